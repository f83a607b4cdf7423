import { ClaimEnd } from '../mail/jobs/claim-end.ts';
import { Housekeeping } from '../mail/jobs/housekeeping.ts';
import { Learner } from '../mail/jobs/learner.ts';
import { Scheduler } from '../mail/jobs/scheduler.ts';
import type { Relay } from '../mail/relay/relay.ts';
import { traceId } from '../mail/receiver/trace-id.ts';
import { ApprovalHerald } from './approvals/herald.ts';
import { OwnerHerald } from './agents/owner-herald.ts';
import { forgetProposals } from './agents/proposal-commands.ts';
import { startControl } from './control/server.ts';
import { forgetDigests } from './digest/commands.ts';
import { DigestHerald } from './digest/herald.ts';
import { LetterAnswers } from './digest/letter-answers.ts';
import { Recheck } from './domains/recheck.ts';
import { OutboundTls } from './outbound-tls.ts';
import { forgetOAuth } from './oauth/tidy-commands.ts';
import { seed, type Seeded } from './seed.ts';
import { releaseResumed } from './sending/pause-commands.ts';
import { CanaryHerald } from './canaries/herald.ts';
import { PauseHerald } from './sending/pause-herald.ts';
import { forgetUploads } from './sending/upload-commands.ts';
import { openDns, openHttp, openImap, openReceiver } from './start/doors.ts';
import { furnish } from './start/inside.ts';
import { judgingBy, openJudge } from './start/judge.ts';
import { type Listeners, portsOf } from './start/ports.ts';
import { openRelay } from './start/relay.ts';
import { openVacation } from './start/vacation.ts';
import type { Surroundings } from './start/surroundings.ts';
import { baseUrlOf, revoking, worldOf } from './start/world.ts';
import { forgetNarrowTokens } from './tokens/narrow-commands.ts';
import { version } from './version.ts';
import { Courier } from './webhooks/courier.ts';

export interface Appliance extends AsyncDisposable {
  readonly listeners: Listeners;
  readonly seeded: Seeded;
  readonly selfSigned: boolean;
  /** {base_url}, without a slash at the end. */
  readonly baseUrl: string;
}

/** Builds everything that runs, in order; closing takes it down in reverse, the doors together. */
export async function startAppliance(around: Surroundings): Promise<Appliance> {
  await using stack = new AsyncDisposableStack();
  // What has no door: store, keys, certificate, logins, queue.
  const inside = await furnish(around, stack);
  const { store, secrets, log, settings } = inside;
  const queued = (): void => inside.queue.changed();
  const seeded = await seed({ store, secrets, log }, settings);
  const chores = [forgetDigests, forgetNarrowTokens, forgetOAuth, forgetProposals, forgetUploads, releaseResumed];
  stack.use(new Housekeeping(store, around.clock, log, chores));

  // Closed after the relay: mail that is on its way is still told what its receivers demand.
  const outboundTls = stack.use(new OutboundTls(inside));
  // Closed after the doors: who is at the end of a message while they close is still answered.
  const judge = stack.use(openJudge(inside));
  const doors: { close(): Promise<void> }[] = [];
  stack.defer(() => closeAll(doors));
  const listeners: Listeners = {};
  const baseUrl = (): string => baseUrlOf(settings, listeners);
  const answers = new LetterAnswers({ ...inside, baseUrl, queued, revoked: revoking(inside.logins) });
  const receiver = await openReceiver(inside, judgingBy(judge, inside), answers);
  doors.push(receiver);
  const imap = await openImap(inside);
  doors.push(imap);

  const leaving: { relay?: Relay } = {};
  const world = worldOf(inside, listeners, () => leaving.relay?.refusedLogins() ?? []);
  const http = await openHttp(inside, world);
  doors.push(http);
  const relay = openRelay(inside, outboundTls, receiver.addresses());
  doors.push(relay);
  leaving.relay = relay;
  const dns = await openDns(inside);
  stack.defer(async () => dns?.close());
  stack.use(new Recheck(inside));
  stack.use(new Scheduler({ ...inside, hostname: settings.hostname, answers, traceId, queued }));
  stack.use(new ClaimEnd(store, around.clock, log));
  stack.use(openVacation(inside, world));
  stack.use(new Learner({ store, log, wordsOf: (source) => judge.words(source) }));
  stack.use(new ApprovalHerald({ ...inside, baseUrl, queued }));
  if (settings.live) stack.use(new PauseHerald({ ...inside, queued }));
  stack.use(new CanaryHerald({ ...inside, baseUrl, queued }));
  if (settings.live) stack.use(new DigestHerald({ ...inside, baseUrl, queued }));
  stack.use(new OwnerHerald({ ...inside, baseUrl, queued, live: settings.live }));
  if (dns !== undefined) listeners.dns = dns.port;
  Object.assign(listeners, portsOf(receiver.addresses(), imap.addresses(), http.addresses()));
  stack.use(new Courier({ ...inside, baseUrl, version: version(), queued }));
  // Closed before the doors: who waits for mail is answered first.
  stack.use(world.waits);
  stack.use(world.runner);
  await world.runner.begin();
  stack.use(await startControl(settings.dataDir, world));

  const everything = stack.move();
  return {
    listeners,
    seeded,
    selfSigned: inside.tls.selfSigned,
    baseUrl: baseUrl(),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** All at the same time: the patience of each for its peers, one after the other, would be longer than a stop may take. */
async function closeAll(doors: readonly { close(): Promise<void> }[]): Promise<void> {
  const ends = await Promise.allSettled(doors.map((door) => door.close()));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
