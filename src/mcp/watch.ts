import type { StateType } from '../../mail/store/type-state.ts';
import type { Caller } from '../operations/caller.ts';
import { operations } from '../operations/loaded.ts';
import type { World } from '../operations/world.ts';
import type { Wait } from '../waiting/wait.ts';

const TYPES: ReadonlySet<StateType> = new Set(['Email']);

/** Resources whose changes one caller is told. */
export interface Watch {
  /** Of those that were asked for, the ones that it may be told of. */
  readonly uris: readonly string[];
  /** Tells until the caller is gone, its token has ended, others need the place, or the server stops. */
  run(tell: (uri: string) => void): Promise<void>;
}

interface Topic {
  uri: string;
  wait: Wait;
}

/** Begins to watch; what the caller may not see is left out, whether it is there or not. Undefined: too much is watched. */
export async function watch(
  world: World,
  caller: Caller,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<Watch | undefined> {
  const { mailboxes, outbox } = await allowed(world, caller, uris);
  const seconds = world.waits.longest(caller);
  const named = [...mailboxes, ...(outbox === null ? [] : [{ uri: outbox.uri, account: undefined }])];
  const asked = named.map(({ account }) => ({ account, types: TYPES, caller, seconds, audience: { signal } }));
  const waits = await world.waits.beginAll(asked);
  if (waits === undefined) return undefined;
  using begun = new DisposableStack();
  const topics: Topic[] = [];
  for (const [i, wait] of waits.entries()) topics.push({ uri: named[i]?.uri ?? '', wait: begun.use(wait) });
  const waiting = topics.find(({ uri }) => uri === outbox?.uri);
  if (outbox !== null && waiting !== undefined) {
    // What waits may be of a program, which has no account whose changes could be heard of.
    const follows = await world.waits.story.follow(outbox, (lines) => {
      if (lines.some((line) => line.outbox !== null)) waiting.wait.wake('changed');
    });
    begun.defer(follows);
  }
  const open = begun.move();
  return {
    uris: topics.map(({ uri }) => uri),
    async run(tell) {
      using _all = open;
      if (topics.length > 0) await Promise.race(topics.map((topic) => tellOn(world, caller, topic, tell)));
    },
  };
}

async function allowed(world: World, caller: Caller, uris: readonly string[]) {
  const [{ perform }, { watchResources }] = await Promise.all([
    operations(),
    import('../operations/waiting/watched.ts'),
  ]);
  const outcome = await perform(world, watchResources, caller, { uris });
  if (outcome.kind === 'refused') return { mailboxes: [], outbox: null };
  return watchResources.output.parse(outcome.result);
}

async function tellOn(
  { waits }: World,
  caller: Caller,
  { uri, wait }: Topic,
  tell: (uri: string) => void,
): Promise<void> {
  while ((await wait.next()) === 'changed' && (await waits.holds(caller))) tell(uri);
}
