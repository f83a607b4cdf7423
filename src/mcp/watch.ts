import type { StateType } from '../../mail/store/account/type-state.ts';
import type { Caller } from '../core/caller.ts';
import { operations } from '../operations/lazy-catalogue.ts';
import type { AppContext } from '../core/app-context.ts';
import type { PendingWait } from '../core/mail-waits.ts';

const TYPES: ReadonlySet<StateType> = new Set(['Email']);

/** Resource subscriptions of one caller. */
export interface ResourceWatch {
  /** Requested URIs that the caller may watch. */
  readonly uris: readonly string[];
  /** Notifies until the client disconnects, its token ends, the wait is displaced, or the server stops. */
  run(notify: (uri: string) => void): Promise<void>;
}

interface Topic {
  uri: string;
  wait: PendingWait;
}

/** Starts watching. Omits URIs that are unknown or not visible. Undefined if the limit is reached. */
export async function watchResources(
  context: AppContext,
  caller: Caller,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<ResourceWatch | undefined> {
  const { mailboxes, outbox } = await allowed(context, caller, uris);
  const seconds = context.waits.maxStreamSeconds(caller);
  const named = [...mailboxes, ...(outbox === null ? [] : [{ uri: outbox.uri, account: undefined }])];
  const inputs = named.map(({ account }) => ({ account, types: TYPES, caller, seconds, audience: { signal } }));
  const waits = await context.waits.beginAll(inputs);
  if (waits === undefined) return undefined;
  using begun = new DisposableStack();
  const topics: Topic[] = [];
  for (const [i, wait] of waits.entries()) topics.push({ uri: named[i]?.uri ?? '', wait: begun.use(wait) });
  const waiting = topics.find(({ uri }) => uri === outbox?.uri);
  if (outbox !== null && waiting !== undefined) {
    // Outbox items of programs have no account, so the journal is followed instead.
    const follows = await context.waits.journal.follow(outbox, (lines) => {
      if (lines.some((line) => line.outbox !== null)) waiting.wait.wake('changed');
    });
    begun.defer(follows);
  }
  const open = begun.move();
  return {
    uris: topics.map(({ uri }) => uri),
    async run(notify) {
      using _all = open;
      if (topics.length > 0) await Promise.race(topics.map((topic) => notifyChanges(context, caller, topic, notify)));
    },
  };
}

async function allowed(context: AppContext, caller: Caller, uris: readonly string[]) {
  const [{ perform }, { watchResources }] = await Promise.all([
    operations(),
    import('../operations/waiting/subscription.ts'),
  ]);
  const outcome = await perform(context, watchResources, caller, { uris });
  if (outcome.kind === 'refused') return { mailboxes: [], outbox: null };
  return watchResources.output.parse(outcome.result);
}

async function notifyChanges(
  { waits }: AppContext,
  caller: Caller,
  { uri, wait }: Topic,
  notify: (uri: string) => void,
): Promise<void> {
  while ((await wait.next()) === 'changed' && (await waits.isTokenValid(caller))) notify(uri);
}
