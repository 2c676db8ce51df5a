/** Pending deliveries on disk, so that the next daemon can continue. */

import { messageOf } from "../../model/errors.ts";
import { readFileIfAny, removeFile, replaceFile } from "../../platform/files/atomic_file.ts";
import { sealed, setAside, unsealed } from "../../platform/files/state_file.ts";
import type { Message } from "./message.ts";

export interface Delivery extends Message {
  readonly to: string;
  readonly file: string;
}

/** Files of deliveries; their names sort by age. */
export class DeliveryOutbox {
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  #last = 0;

  constructor(folder: string, warn: (message: string) => void) {
    this.#folder = folder;
    this.#warn = warn;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Saves a message for a webhook. If the disk is full, it is still sent. */
  add(to: string, message: Message): Delivery {
    this.#last = Math.max(Date.now(), this.#last + 1);
    const delivery = { ...message, to, file: `${this.#folder}/${this.#last}.json` };
    this.#write(delivery);
    return delivery;
  }

  /** Saves a delivery with another body. */
  rewrite(delivery: Delivery, body: string): Delivery {
    const rewritten = { ...delivery, body };
    this.#write(rewritten);
    return rewritten;
  }

  /** Removes a delivery that arrived or was given up. */
  remove({ file }: Delivery): void {
    try {
      removeFile(file);
    } catch (error) {
      this.#warn(`Cannot remove "${file}": ${messageOf(error)}`);
    }
  }

  /** Deliveries of an earlier daemon, the oldest first. */
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
      this.#warn(`Webhook "${delivery.to}": cannot save a pending delivery: ${why}`);
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
