/** The size of the terminal of this program. */

/** 80 x 24 if it reports 0, as some terminals do, or if it is gone. */
export function terminalSize(): { readonly columns: number; readonly rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 };
  }
}
