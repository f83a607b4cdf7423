import type { NodeSignal } from '../../mail/store/engine/postgres/commit-log.ts';
import { listBans, MAX_BANS } from '../../mail/store/limit/ban.ts';
import type { ChallengeChange } from '../acme/challenge-answers.ts';
import { loadCertificates } from '../certificates/load.ts';
import type { Services } from './shared-parts.ts';

/**
 * Follows what other nodes of the database do in their memory: sessions that end, bans, new certificates, and mail for the
 * relay of the leader. Everything else is read from the database. Does nothing for a server that is alone. Passwords that are
 * deleted and accounts that are removed are announced by their commit; other signals follow it: a node that is killed between
 * the two has announced nothing.
 */
export function joinNodes(services: Services): Disposable {
  const { store, queue } = services;
  const { nodes } = store;
  if (nodes === undefined) return { [Symbol.dispose]: () => undefined };
  const stopHearing = nodes.onSignal((signal) => follow(services, signal));
  const stopTelling = queue.onChange(() => {
    if (!nodes.leads) nodes.signal({ kind: 'queued' });
  });
  return {
    [Symbol.dispose]() {
      stopHearing();
      stopTelling();
    },
  };
}

function follow(services: Services, signal: NodeSignal): void {
  const { log } = services;
  const failed = (error: unknown): void =>
    log.error({ err: error, kind: signal.kind }, 'failed to follow another node');
  FOLLOW[signal.kind]?.(services, signal)?.catch(failed);
}

const FOLLOW: Readonly<Record<string, (services: Services, signal: NodeSignal) => Promise<void> | undefined>> = {
  revoked({ logins }, { account, credential }) {
    logins.revokedElsewhere({
      account: Number(account),
      ...(credential !== undefined && { credential: Number(credential) }),
    });
    return undefined;
  },
  async banned({ store, guard, clock }) {
    guard.restoreBans(await store.read(listBans, { after: 0, limit: MAX_BANS, now: clock() }));
  },
  lifted({ guard, throttle }, { network }) {
    guard.liftedElsewhere(String(network));
    throttle.clearNetwork(String(network));
    return undefined;
  },
  async certificates({ store, secrets, settings, tls }) {
    tls.use(await loadCertificates({ store, secrets }, settings.hostname));
  },
  async challenge({ challenges, clock }, { type, open, name, value }) {
    const change = {
      type: type as ChallengeChange['type'],
      open: open === 1,
      name: String(name),
      value: String(value),
    };
    await challenges.follow(change, clock());
  },
  queued({ store, queue }) {
    if (store.nodes?.leads === true) queue.changed();
    return undefined;
  },
};
