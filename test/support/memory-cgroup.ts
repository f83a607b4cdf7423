import { access, mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A memory cgroup for one process. */
export interface MemoryCgroup extends AsyncDisposable {
  name: string;
  /** Command prefix that starts a program in it. */
  wrapper: readonly string[];
}

const WRAPPER = 'echo $$ >"$0/cgroup.procs" && exec "$@"';

/**
 * Creates a memory cgroup below the directory that TEST_MEMORY_CGROUP names, v1 or v2. Undefined without it: a test does
 * not leave the cgroup in which it was started by itself.
 */
export async function memoryCgroup(memoryMb: number): Promise<MemoryCgroup | undefined> {
  const parent = process.env['TEST_MEMORY_CGROUP'];
  if (parent === undefined || parent === '') return undefined;
  const path = join(parent, `mailstead-test-${process.pid}-${memoryMb}`);
  await mkdir(path);
  const isOne = await access(join(path, 'memory.limit_in_bytes')).then(
    () => true,
    () => false,
  );
  await writeFile(join(path, isOne ? 'memory.limit_in_bytes' : 'memory.max'), String(memoryMb * 1024 * 1024));
  return {
    name: isOne ? 'cgroup v1' : 'cgroup v2',
    wrapper: ['/bin/sh', '-c', WRAPPER, path],
    [Symbol.asyncDispose]: () => rmdir(path),
  };
}
