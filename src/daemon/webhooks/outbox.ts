/** What is on its way to webhooks, on the disk: the next daemon goes on where this one was killed. */

import { messageOf } from "../../model/errors.ts";
import { readFileIfAny, removeFile, replaceFile } from "../../platform/atomic_file.ts";
import { sealed, setAside, unsealed } from "../../platform/state_file.ts";
import type { Message } from "./message.ts";

/** A message on its way to one webhook. */
export interface Delivery extends Message {
  /** Name of the webhook. */
  readonly to: string;
  /** Its file. */
  readonly file: string;
}

/** Files of deliveries; their names sort by age. */
export class Outbox {
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  #last = 0;

  constructor(folder: string, warn: (message: string) => void) {
    this.#folder = folder;
    this.#warn = warn;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Puts a message on record. A disk that takes nothing more keeps none from being sent. */
  add(to: string, message: Message): Delivery {
    this.#last = Math.max(Date.now(), this.#last + 1);
    const delivery = { ...message, to, file: `${this.#folder}/${this.#last}.json` };
    this.#write(delivery);
    return delivery;
  }

  /** Puts another body on record for it. */
  rewrite(delivery: Delivery, body: string): Delivery {
    const rewritten = { ...delivery, body };
    this.#write(rewritten);
    return rewritten;
  }

  /** It came through, or was given up. */
  remove({ file }: Delivery): void {
    try {
      removeFile(file);
    } catch (error) {
      this.#warn(`Cannot remove "${file}": ${messageOf(error)}`);
    }
  }

  /** What an earlier daemon left, the oldest first. */
  left(): Delivery[] {
    const names = [...Deno.readDirSync(this.#folder)].map(({ name }) => name);
    return names.filter((name) => /^\d+\.json$/.test(name))
      .sort((a, b) => parseInt(a) - parseInt(b))
      .flatMap((name) => {
        this.#last = Math.max(this.#last, parseInt(name));
        return this.#read(`${this.#folder}/${name}`) ?? [];
      });
  }

  #write({ file, ...delivery }: Delivery): void {
    try {
      replaceFile(file, sealed(delivery));
    } catch (error) {
      const why = messageOf(error);
      this.#warn(`Webhook "${delivery.to}": what is sent cannot be put on record: ${why}`);
    }
  }

  #read(file: string): Delivery | undefined {
    try {
      return { ...unsealed(readFileIfAny(file)!) as Omit<Delivery, "file">, file };
    } catch (error) {
      this.#warn(setAside(file, error));
      return undefined;
    }
  }
}
