import { createSecretKey } from 'node:crypto';
import { quiet } from '../../mail/log.ts';
import { type Address, parseAddress } from '../../mail/message/address.ts';
import type { StoreIntakeOptions } from '../../mail/receiver/intake-desk.ts';
import type { Refusal } from '../../mail/receiver/needs.ts';
import { StoreIntake } from '../../mail/receiver/store-intake.ts';
import type { TestStore } from './store.ts';

/** Of the box that the tests are about. */
export const BOX_KEY = createSecretKey(Buffer.alloc(32, 3));

export interface Arriving {
  /** '' is the null reverse-path. */
  from?: string;
  to: string;
  /** Further recipients here. */
  more?: readonly string[];
  /** With either line end. */
  body: string;
  login?: { account: number; address: string };
  dsn?: { notify?: readonly ('NEVER' | 'SUCCESS' | 'FAILURE' | 'DELAY')[]; orcpt?: string };
  envid?: string;
  ret?: 'FULL' | 'HDRS';
  /** How the peer introduces itself. */
  helo?: string;
}

export function theAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
}

export function testIntake(box: TestStore, over: Partial<StoreIntakeOptions> = {}): StoreIntake {
  return new StoreIntake({
    store: box.store,
    hostname: 'mail.box.test',
    hold: null,
    judging: null,
    log: quiet,
    meter: quiet,
    forwardKey: Buffer.alloc(32, 3),
    reportKey: BOX_KEY,
    senderOf: () => Promise.resolve({ tenant: 1, allowance: null }),
    queued: () => undefined,
    clock: () => box.clock.now,
    ...over,
  });
}

let arrived = 0;

/** What the SMTP door does with one message; answers why the recipient is none, or what was said at the end. */
export async function arrive(
  intake: StoreIntake,
  { from = '', to, more = [], body, login, dsn = {}, envid, ret, helo = 'mx' }: Arriving,
): Promise<string | Refusal | { kind: 'accepted' }> {
  const who = login && { account: login.account, address: theAddress(login.address), credential: 1 };
  const recipient = theAddress(to);
  const sender = from === '' ? undefined : theAddress(from);
  const route = await intake.route(recipient, who, { sender, ip: '192.0.2.1', size: undefined });
  const returns = route.kind === 'return' && from === '';
  const out = route.kind === 'elsewhere' && who !== undefined;
  if (!['here', 'forward', 'report'].includes(route.kind) && !returns && !out) return route.kind;
  const others = await Promise.all(
    more.map(async (one) => ({ address: theAddress(one), route: await intake.route(theAddress(one), who), dsn })),
  );
  const sink = intake.open({
    id: `arrived-${++arrived}`,
    door: who === undefined ? 'mx' : 'submission',
    sender,
    recipients: [{ address: recipient, route, dsn }, ...others],
    login: who,
    smtputf8: false,
    body: '7BIT',
    ret,
    envid,
    received: 'Received: from mx.remote.example\r\n',
    peer: { ip: '192.0.2.1', port: 1, helo, tls: false },
  });
  await sink.write(Buffer.from(body.replace(/\r?\n/g, '\r\n')));
  return sink.finish();
}
