/** A list in a folder of its own, which the commands of `ptf-peer` describe and read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ran } from '../../support/child-process.js';
import type { PlanDocument } from '../import/plans.js';
import { PeerWorld } from '../peer-world.js';

export class DescribedList {
  readonly path: string;
  readonly #world = new PeerWorld();

  constructor(name: string) {
    this.path = join(this.#world.folder, name);
  }

  write(text: string): void {
    writeFileSync(this.path, text);
  }

  /** Runs `ptf-peer describe`. */
  describe(...options: readonly string[]): Promise<Ran> {
    return this.#world.run(['describe', this.path, ...options]);
  }

  /** Runs a dry run of an import by a description, or by what the options say. */
  dryRun(description: object | string | null, ...options: readonly string[]): Promise<Ran> {
    const args = ['import', this.path, '--dry-run', ...options];
    if (description === null) return this.#world.run(args);
    const file = join(this.#world.folder, 'description.json');
    writeFileSync(file, typeof description === 'string' ? description : JSON.stringify(description));
    return this.#world.run([...args, '--description', file]);
  }

  /** Returns the plan of an import by a description. */
  async plan(description: object | string, ...options: readonly string[]): Promise<PlanDocument> {
    const { out, err } = await this.dryRun(description, '--json', ...options);
    if (err !== '') throw new Error(err);
    return JSON.parse(out);
  }
}
