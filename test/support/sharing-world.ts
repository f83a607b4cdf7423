import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { startImap } from '../../mail/imap/server.ts';
import { SharingStore } from '../../mail/imap/sharing-store.ts';
import { quiet } from '../../mail/log.ts';
import type { Login, Logins } from '../../mail/login/types.ts';
import { testGuard } from './guard.ts';
import { ImapClient } from './imap-world.ts';
import { testAccount, testStore, type TestStore } from './store.ts';

/** A person with a mailbox. */
export interface SharingPerson {
  account: number;
  inbox: number;
  credential: number;
  address: string;
}

/** An IMAP server over a real store: ann, bob and cyd of one organization, eve of another. */
export interface SharingWorld extends AsyncDisposable {
  box: TestStore;
  people: Record<'ann' | 'bob' | 'cyd' | 'eve', SharingPerson>;
  faults: object[];
  /** A connection with the greeting read. */
  connect(): Promise<ImapClient>;
  /** A connection that is logged in. */
  client(who: keyof SharingWorld['people']): Promise<ImapClient>;
  /** Changes the database directly. */
  sql(text: string, ...values: (string | number)[]): Record<string, unknown>[];
}

export async function sharingWorld(): Promise<SharingWorld> {
  const box = await testStore();
  const sql: SharingWorld['sql'] = (text, ...values) => {
    const db = new DatabaseSync(join(box.dataDir, 'mailstead.db'));
    try {
      return db.prepare(text).all(...values);
    } finally {
      db.close();
    }
  };
  const person = async (local: string, tenant = 1): Promise<SharingPerson> => {
    const name = tenant === 1 ? 'box.test' : 'other.test';
    const { account, inbox } = await testAccount(box.store, local, { tenant, name });
    const [row] = sql('SELECT id FROM credential WHERE account_id = ?', account);
    return { account, inbox, credential: Number(row?.['id']), address: `${local}@${name}` };
  };
  const people = {
    ann: await person('ann'),
    bob: await person('bob'),
    cyd: await person('cyd'),
    eve: await person('eve', 2),
  };
  const faults: object[] = [];
  const server = await startImap({
    hostname: 'imap.box.test',
    listeners: [{ tls: 'starttls', host: '127.0.0.1', port: 0 }],
    logins: loginsOf(people),
    guard: testGuard(),
    open: ({ account, credential }) =>
      new SharingStore(box.store, account, () => box.clock.now, { actor: { credential } }),
    secureContext: () => {
      throw new Error('no TLS here');
    },
    local: true,
    log: { ...quiet, error: (fields) => faults.push(fields) },
    meter: quiet,
  });
  const clients: ImapClient[] = [];
  const open = async (): Promise<ImapClient> => {
    const client = new ImapClient(connect(server.addresses()[0]?.port ?? 0, '127.0.0.1'));
    clients.push(client);
    await client.line();
    return client;
  };
  return {
    box,
    people,
    faults,
    sql,
    connect: open,
    async client(who) {
      const client = await open();
      await client.command(`LOGIN ${who} x`);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of clients) socket.destroy();
      await server.close(200);
      await box[Symbol.asyncDispose]();
    },
  };
}

/** Logs in every person by the name alone. */
function loginsOf(people: SharingWorld['people']): Logins {
  return {
    mechanisms: () => ['PLAIN'],
    start: () => undefined,
    password: (user) => {
      const { account, credential, address } = people[user as keyof typeof people];
      const [local = '', domain = ''] = address.split('@');
      const login: Login = { account, credential, address: { local, domain } };
      return Promise.resolve({ kind: 'in', login });
    },
    onRevoked: () => () => {},
  };
}
