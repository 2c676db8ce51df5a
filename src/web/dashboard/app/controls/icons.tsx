/** The icons, and procsup's mark. */

const SHAPES = {
  processes: "M8 6h13M8 12h13M8 18h13M3 6h.01M3 12h.01M3 18h.01",
  logs: "M4 5h16M4 10h10M4 15h14M4 20h8",
  graph:
    "M6 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 9v3a6 6 0 0 0 6 6h3",
  jobs: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  settings: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
  add: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  light:
    "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 1v2M12 21v2M4.2 4.2l1.4 1.4M18.4 18.4l1.4 1.4M1 12h2M21 12h2M4.2 19.8l1.4-1.4M18.4 5.6l1.4-1.4",
  dark: "M21 13A9 9 0 1 1 11 3a7 7 0 0 0 10 10z",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 8l5.5-2M12 13h9M12 18l5-1",
  help:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9a2.5 2.5 0 1 1 3.5 2.5c-.7.3-1 .8-1 1.5v.5M12 17h.01",
  start: "M7 4l13 8-13 8z",
  stop: "M6 6h12v12H6z",
  restart: "M20 11a8 8 0 1 0-2.3 6.7M20 4v7h-7",
  reload: "M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  close: "M6 6l12 12M18 6L6 18",
  done: "M4 12l5 6L20 6",
  failed: "M12 3l10 18H2zM12 10v5M12 18h.01",
  up: "M5 15l7-7 7 7",
  down: "M5 9l7 7 7-7",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  wrap: "M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15l-3 3 3 3M4 18h4",
  save: "M5 3h12l4 4v14H3V3zM8 3v6h8V3M8 21v-7h8v7",
  text: "M4 7V5h16v2M12 5v14M9 19h6",
  columns: "M4 4h16v16H4zM12 4v16",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  events: "M4 12h4l3-8 4 16 2-8h3",
  machines: "M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01",
  blank: "",
  leave: "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** procsup's mark: the picture beside its name. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17h4l3-8 5 14 3-6h3" />
    </svg>
  );
}
