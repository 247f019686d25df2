/**
 * A disk of its own that can lose power: a file system in a file, where this process may mount one, whose page cache
 * can be left behind.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

function must(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}

/** Exit codes of `e2fsck`: no errors, or all errors corrected. */
const MENDED = [0, 1];

export class PowerDisk {
  /** The mount point. */
  readonly path: string;
  readonly #folder: string;
  readonly #image: string;
  readonly #cut: string;
  readonly #unmountNow = () => void run('umount', '-l', this.path);

  private constructor(folder: string) {
    this.#folder = folder;
    this.#image = join(folder, 'image');
    this.#cut = join(folder, 'cut');
    this.path = join(folder, 'disk');
    mkdirSync(this.path);
    process.once('exit', this.#unmountNow);
  }

  /** Null where that is not permitted here. */
  static mount(mb: number): PowerDisk | null {
    const disk = new PowerDisk(mkdtempSync(join(tmpdir(), 'ptf-power-')));
    const isMade = run('truncate', '-s', `${mb}M`, disk.#image) && run('mkfs.ext4', '-q', disk.#image);
    if (isMade && run('mount', '-o', 'loop', disk.#image, disk.path)) return disk;
    disk.unmount();
    return null;
  }

  /** Copies the present content of the disk. Writers should be stopped, as by a power cut. */
  cut(): void {
    must('cp', '--sparse=always', this.#image, this.#cut);
  }

  /** Restores the content that `cut` copied. No process may have a file of the disk open. */
  restore(): void {
    this.#unmountNow();
    renameSync(this.#cut, this.#image);
    const { status, stdout } = spawnSync('e2fsck', ['-f', '-y', this.#image], { encoding: 'utf8' });
    if (!MENDED.includes(status!)) throw new Error(`the file system cannot be mended: ${stdout}`);
    must('mount', '-o', 'loop', this.#image, this.path);
  }

  unmount(): void {
    process.off('exit', this.#unmountNow);
    this.#unmountNow();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
