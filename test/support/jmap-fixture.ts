import { allowAll } from '../../mail/agents/gate/sending-policy.ts';
import {
  BLOB,
  CORE,
  JMAP_LIMITS,
  type JmapLimits,
  MAIL,
  MAILSTEAD,
  MDN,
  QUOTA,
  SUBMISSION,
  VACATION,
} from '../../mail/jmap/core/capabilities.ts';
import { accountId } from '../../mail/jmap/core/ids.ts';
import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import type { JmapContext, JmapSession } from '../../mail/jmap/core/method.ts';
import { readRequest } from '../../mail/jmap/core/request.ts';
import { type JmapResponse, runRequest } from '../../mail/jmap/core/request-runner.ts';
import { quiet } from '../../mail/log.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { testAccount, testStore, type TestStore } from './store.ts';

/** A store with one account, and JMAP requests to it without a network. */
export interface JmapFixture extends AsyncDisposable {
  box: TestStore;
  context: JmapContext;
  session: JmapSession;
  account: number;
  accountId: string;
  inbox: number;
  /** Sends a whole request. */
  request(
    calls: [string, Record<string, unknown>, string][],
    createdIds?: Record<string, string>,
    memory?: MemoryReservation,
  ): Promise<JmapResponse>;
  /** Sends one call with the accountId; returns the response arguments or throws the method error. */
  call(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends one call and returns its method error. */
  refusal(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export const USING = [CORE, MAIL, SUBMISSION, VACATION, BLOB, QUOTA, MDN, MAILSTEAD];

export async function createJmapFixture(
  engine: Parameters<typeof testStore>[0] = 'calling thread',
  limits: Partial<JmapLimits> = {},
): Promise<JmapFixture> {
  const box = await testStore(engine);
  const { account, inbox } = await testAccount(box.store);
  return jmapFixtureOn(box, { account, inbox, address: 'me@box.test' }, limits);
}

/** Creates a JMAP context without network. */
export function testJmapContext(store: MailStore, clock: () => number, limits: Partial<JmapLimits> = {}): JmapContext {
  return {
    store,
    clock,
    limits: { ...JMAP_LIMITS, ...limits },
    maxMessageBytes: 25 * 1024 * 1024,
    hostname: 'mail.box.test',
    push: {
      secrets: new SecretBox(Buffer.alloc(32, 5)),
      publicKey: 'none',
      checkUrl: () => Promise.resolve(undefined),
      mayVerify: () => true,
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

/** Creates a fixture for another account of the same store. */
export function jmapFixtureOn(
  box: TestStore,
  who: { account: number; inbox: number; address: string },
  limits: Partial<JmapLimits> = {},
): JmapFixture {
  const login = testJmapContext(box.store, () => box.clock.now, limits);
  const { account, inbox, address } = who;
  const id = accountId(account);
  const access = { account, address, readOnly: false, mayTransmit: true };
  const session: JmapSession = { username: address, accounts: new Map([[id, access]]), credential: `test-${account}` };
  const known = new Set(USING);
  const request: JmapFixture['request'] = (methodCalls, createdIds, memory) =>
    runRequest(login, session, readRequest({ using: USING, methodCalls, createdIds }, known, login.limits), memory);
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
    context: login,
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
