import { createSecretKey } from 'node:crypto';
import { quiet } from '../../mail/log.ts';
import { type Address, parseAddress } from '../../mail/message/address.ts';
import type { StoreBackendOptions } from '../../mail/receiver/context.ts';
import type { SmtpRefusal } from '../../mail/receiver/needs.ts';
import { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import type { TestStore } from './store.ts';

/** Report key of the tested box. */
export const BOX_KEY = createSecretKey(Buffer.alloc(32, 3));

export interface TestMessage {
  /** '' is the null reverse-path. */
  from?: string;
  to: string;
  /** More local recipients. */
  more?: readonly string[];
  /** With either line end. */
  body: string;
  login?: { account: number; address: string };
  dsn?: { notify?: readonly ('NEVER' | 'SUCCESS' | 'FAILURE' | 'DELAY')[]; orcpt?: string };
  envid?: string;
  ret?: 'FULL' | 'HDRS';
  /** EHLO name of the peer. */
  helo?: string;
}

export function toAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
}

export function testBackend(box: TestStore, over: Partial<StoreBackendOptions> = {}): StoreReceiverBackend {
  return new StoreReceiverBackend({
    store: box.store,
    hostname: 'mail.box.test',
    hold: null,
    filter: null,
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

/** Sends one message as the SMTP server does; returns the route of a refused recipient, or the outcome. */
export async function receiveMessage(
  backend: StoreReceiverBackend,
  { from = '', to, more = [], body, login, dsn = {}, envid, ret, helo = 'mx' }: TestMessage,
): Promise<string | SmtpRefusal | { kind: 'accepted' }> {
  const who = login && { account: login.account, address: toAddress(login.address), credential: 1 };
  const recipient = toAddress(to);
  const sender = from === '' ? undefined : toAddress(from);
  const route = await backend.route(recipient, who, { sender, ip: '192.0.2.1', size: undefined });
  const returns = route.kind === 'return' && from === '';
  const out = route.kind === 'elsewhere' && who !== undefined;
  if (!['here', 'forward', 'report', 'reports'].includes(route.kind) && !returns && !out) return route.kind;
  const others = await Promise.all(
    more.map(async (one) => ({ address: toAddress(one), route: await backend.route(toAddress(one), who), dsn })),
  );
  const sink = backend.open({
    id: `arrived-${++arrived}`,
    service: who === undefined ? 'mx' : 'submission',
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
