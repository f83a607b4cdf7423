import type { World } from '../operations/world.ts';

/** Writes the environment files of services anew, after something that they hold has changed. */
export async function rewriteEnvFiles(_world: World, _services: readonly number[]): Promise<void> {}
