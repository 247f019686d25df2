/** Draws the demo: one picture in place on a terminal that is tall enough, else a plain line now and then. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import type { Reading } from './readings.js';
import { picture, type Stage, summaryLine } from './words.js';

const widthWithoutTerminal = 100;
const plainLines = 12;

export class Screen {
  readonly #out: NodeJS.WriteStream;
  #drawn = 0;
  #nextLineAt = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  get width(): number {
    return this.#out.isTTY ? this.#out.columns : widthWithoutTerminal;
  }

  show(reading: Reading, stage: Stage): void {
    const lines = picture(reading, stage, this.width);
    if (this.#out.isTTY && lines.length < this.#out.rows) {
      this.#goBack();
      this.#out.write(`${lines.join('\n')}\n`);
      this.#drawn = lines.length;
      return;
    }
    if (stage.progress < this.#nextLineAt) return;
    this.#nextLineAt = stage.progress + 1 / plainLines;
    this.#out.write(`${summaryLine(reading, stage)}\n`);
  }

  /** The last picture, which stays. */
  end(reading: Reading, stage: Stage): void {
    this.#goBack();
    this.#out.write(`\n${picture(reading, stage, this.width).join('\n')}\n\n`);
    this.#drawn = 0;
  }

  #goBack(): void {
    if (this.#drawn === 0) return;
    cursorTo(this.#out, 0);
    moveCursor(this.#out, 0, -this.#drawn);
    clearScreenDown(this.#out);
  }
}
