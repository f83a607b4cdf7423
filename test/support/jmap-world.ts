import { allowAll } from '../../mail/delivery/policy.ts';
import { CORE, MAIL, MAILSTEAD, SUBMISSION, VACATION, BLOB, QUOTA, MDN } from '../../mail/jmap/capabilities.ts';
import { accountId } from '../../mail/jmap/ids.ts';
import { JMAP_LIMITS, type JmapLimits } from '../../mail/jmap/limits.ts';
import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import { readRequest } from '../../mail/jmap/request.ts';
import { type JmapResponse, runRequest } from '../../mail/jmap/run.ts';
import { quiet } from '../../mail/log.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { testAccount, testStore, type TestStore } from './store.ts';

/** A store with one account, and JMAP requests to it without a network. */
export interface JmapWorld extends AsyncDisposable {
  box: TestStore;
  desk: JmapDesk;
  session: JmapSession;
  account: number;
  accountId: string;
  inbox: number;
  /** A whole request. */
  request(
    calls: [string, Record<string, unknown>, string][],
    createdIds?: Record<string, string>,
  ): Promise<JmapResponse>;
  /** One call, with the accountId put in. Answers its arguments; throws with the error when it is one. */
  call(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The "error" that one call is answered with. */
  refusal(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export const USING = [CORE, MAIL, SUBMISSION, VACATION, BLOB, QUOTA, MDN, MAILSTEAD];

export async function jmapWorld(
  engine: Parameters<typeof testStore>[0] = 'calling thread',
  limits: Partial<JmapLimits> = {},
): Promise<JmapWorld> {
  const box = await testStore(engine);
  const { account, inbox } = await testAccount(box.store);
  return worldOn(box, { account, inbox, address: 'me@box.test' }, limits);
}

/** What the methods need, with nobody outside. */
export function testDesk(store: MailStore, clock: () => number, limits: Partial<JmapLimits> = {}): JmapDesk {
  return {
    store,
    clock,
    limits: { ...JMAP_LIMITS, ...limits },
    maxMessageBytes: 25 * 1024 * 1024,
    hostname: 'mail.box.test',
    push: {
      secrets: new SecretBox(Buffer.alloc(32, 5)),
      publicKey: 'none',
      judge: () => Promise.resolve(undefined),
      mayAsk: () => true,
      created: () => undefined,
      changed: () => undefined,
    },
    log: quiet,
    meter: quiet,
    senderOf: () => Promise.resolve({ tenant: 1, allowance: null }),
    policy: allowAll,
    hold: null,
    forwardKey: Buffer.alloc(32, 3),
    traceId,
    queued: () => undefined,
  };
}

/** The same for another account of the store. */
export function worldOn(
  box: TestStore,
  who: { account: number; inbox: number; address: string },
  limits: Partial<JmapLimits> = {},
): JmapWorld {
  const desk = testDesk(box.store, () => box.clock.now, limits);
  const { account, inbox, address } = who;
  const id = accountId(account);
  const access = { account, address, readOnly: false, mayTransmit: true };
  const session: JmapSession = { username: address, accounts: new Map([[id, access]]), credential: `test-${account}` };
  const known = new Set(USING);
  const request: JmapWorld['request'] = (methodCalls, createdIds) =>
    runRequest(desk, session, readRequest({ using: USING, methodCalls, createdIds }, known, desk.limits));
  const one = async (
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<readonly [string, Record<string, unknown>]> => {
    const { methodResponses } = await request([[name, { accountId: id, ...args }, 'c']]);
    const [first] = methodResponses;
    if (first === undefined) throw new Error('no answer');
    return [first[0], first[1]];
  };
  return {
    box,
    desk,
    session,
    account,
    accountId: id,
    inbox,
    request,
    async call(name, args) {
      const [answered, found] = await one(name, args);
      if (answered === 'error') throw new Error(`${name}: ${JSON.stringify(found)}`);
      return found;
    },
    async refusal(name, args) {
      const [answered, found] = await one(name, args);
      if (answered !== 'error') throw new Error(`${name} was answered: ${JSON.stringify(found)}`);
      return found;
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}
