import { setWebhook } from '../../src/webhooks/webhook-commands.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deliver, deliveryTrace } from '../../mail/delivery/deliver.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { command } from '../../mail/store/engine/types.ts';
import { insertMember, insertPendingUser } from '../../src/people/commands.ts';
import { quiet } from '../../mail/log.ts';
import { Notifier } from '../../src/notices/notifier.ts';
import type { WebhookDispatcherOptions } from '../../src/webhooks/dispatcher.ts';
import { disabledWebhookNotices, failingWebhookNotices } from '../../src/webhooks/notice-sources.ts';
import { secretRow, WEBHOOK_PURPOSE } from '../../src/webhooks/sign.ts';
import { proveOwner } from './people.ts';
import { testAccount } from './store.ts';
import { testWorld, type TestWorld } from './world.ts';

export const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A world with mailboxes of the operator's organization whose webhooks lead to a receiver in this process. */
export interface HookWorld extends AsyncDisposable {
  made: TestWorld;
  store: MailStore;
  clock: { now: number };
  receiver: Receiver;
  /** A mailbox with a webhook; answers its account. */
  mailbox(local: string, url?: string): Promise<number>;
  /** A mailbox of somebody who owns the organization; answers its account. */
  owner(): Promise<number>;
  /** Stores a message for it; answers nothing. */
  arrive(account: number, subject: string, more?: string): Promise<void>;
  /** Options of a dispatcher, with another store if given. */
  options(over?: Partial<WebhookDispatcherOptions>): WebhookDispatcherOptions;
  /** Notifies owners of failing webhooks. */
  notifier: Notifier;
}

export interface Reported {
  id: string;
  subject: string;
}

export class Receiver {
  readonly told: Reported[] = [];
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    void response.end('ok');
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const event = JSON.parse(Buffer.concat(chunks).toString()) as { message?: { subject: string }; type: string };
        this.told.push({ id: String(request.headers['webhook-id']), subject: event.message?.subject ?? event.type });
        this.answer(request, response);
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const addOwner = command('test-owner', async (tx, input: { email: string }, stamp) => {
  const { email } = input;
  const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
  await insertMember(tx, { organization: 1, user, role: 'owner' }, stamp);
  await proveOwner.run(tx, email, stamp);
});

export async function hookWorld(): Promise<HookWorld> {
  const made = await testWorld({}, [addOwner]);
  const { store } = made.store;
  const receiver = new Receiver();
  await receiver.open();
  const { world } = made;
  return {
    made,
    store,
    clock: made.store.clock,
    receiver,
    async mailbox(local, url = receiver.url) {
      const { account } = await testAccount(store, local);
      const row = secretRow({ account, organization: 1 });
      const secret = world.secrets.seal(WEBHOOK_PURPOSE, 'webhook', row, Buffer.from(SIGNING_SECRET));
      await store.write(setWebhook, { account, organization: 1, url, secret });
      return account;
    },
    async owner() {
      const { account } = await testAccount(store, 'owner');
      await store.write(addOwner, { email: 'owner@box.test' });
      return account;
    },
    async arrive(account, subject, more = 'text') {
      const bytes = Buffer.from(
        `From: a@elsewhere.example\r\nTo: me@box.test\r\nSubject: ${subject}\r\n\r\n${more}\r\n`,
      );
      const data = Uint8Array.from(bytes);
      const writer = store.files.create();
      await writer.write(Buffer.from(data));
      const blob = await writer.finish();
      await store.write(deliver, {
        trace: `t-${subject}`,
        sender: 'a@elsewhere.example',
        deliveries: [{ account, to: 'me@box.test', trace: deliveryTrace('a@elsewhere.example', 'me@box.test') }],
        data: 'data' in blob ? blob.data : null,
        file: 'file' in blob ? blob : null,
        index: indexMessage(data),
        from: { ip: '192.0.2.7', helo: 'elsewhere.example' },
        onward: [],
        eightBit: false,
        hold: null,
      });
    },
    notifier: new Notifier({
      sources: [failingWebhookNotices(world), disabledWebhookNotices(world)],
      queued: () => undefined,
      log: quiet,
      metrics: quiet,
    }),
    options: (over = {}) => ({
      store,
      secrets: world.secrets,
      settings: world.settings,
      lookNow: world.lookNow,
      clock: world.clock,
      random: () => 0.5,
      baseUrl: world.baseUrl,
      version: 'test',
      log: quiet,
      metrics: quiet,
      ...over,
    }),
    async [Symbol.asyncDispose]() {
      receiver.close();
      await made[Symbol.asyncDispose]();
    },
  };
}
