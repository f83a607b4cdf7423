import { ImapFlow } from 'imapflow';
import { quiet } from '../../mail/log.ts';
import { accountByKey } from '../../mail/store/account/account.ts';
import { MailStore } from '../../mail/store/store.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import { type Box, startBox } from './box.ts';
import { changeBox } from './box-database.ts';
import { dnsServer } from './dns-server.ts';
import { holdMail } from './held-mail.ts';
import { type ScriptedServer, scriptedServer } from './scripted-smtp.ts';
import { databaseOfDirectory } from './test-database.ts';

const ME = 'me@home.example';

/** A box in live mode whose mailbox me@home.example has mail that an agent wants to send to somebody elsewhere. */
export interface HeldBox extends AsyncDisposable {
  readonly box: Box;
  readonly remote: ScriptedServer;
  readonly password: string;
  readonly account: number;
  /** Logged in with the password of the mailbox. */
  person(): Promise<ImapFlow>;
  /** Ends the box in good order, has so many messages wait in its store, and starts it again; their subjects. `sendAt`: ms UTC. */
  hold(count: number, sendAt?: number): Promise<string[]>;
  /** Ends the box in good order, lets all that is approved leave now, and starts it again; the number of messages. */
  makeDue(): Promise<number>;
}

/** The gate of the calling test has to hold everything. */
export async function heldBox(): Promise<HeldBox> {
  const remote = await scriptedServer();
  const dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port), EXEMPT_NETWORKS: '127.0.0.0/8' };
  const box = await startBox({ hostname: 'mail.home.example', settings });
  await box.ask('add_domain', { domain: 'home.example' });
  const { password } = (await box.ask('add_mailbox', { address: ME })) as { password: string };
  let account = 0;
  let last = 0;
  return {
    box,
    remote,
    password,
    get account() {
      return account;
    },
    async person() {
      const auth = { user: ME, pass: password };
      const tls = { rejectUnauthorized: false };
      const client = new ImapFlow({
        host: '127.0.0.1',
        port: box.port('imaps'),
        secure: true,
        auth,
        tls,
        logger: false,
      });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    async hold(count, sendAt) {
      await box.stop();
      const subjects = Array.from({ length: count }, () => `Offer ${++last}`);
      const store = await openStore(box.dataDir);
      account = (await store.read(accountByKey, { tenant: 1, key: ME }))?.id ?? 0;
      for (const subject of subjects) {
        const text = `From: ${ME}\r\nTo: x@remote.example\r\nSubject: ${subject}\r\nMessage-ID: <${last}.${subject.slice(6)}@home.example>\r\n\r\nThe offer\r\n`;
        const to = { recipient: 'x@remote.example', domain: 'remote.example', notify: '', orcpt: '' };
        await holdMail(
          store,
          { account, sender: ME, signAs: ['home.example'], elsewhere: [to], sendAt: sendAt ?? null },
          text,
        );
      }
      await store[Symbol.asyncDispose]();
      await box.start();
      return subjects;
    },
    async makeDue() {
      await box.stop();
      const due = 'UPDATE scheduled SET due_at = ? WHERE hold_reason IS NULL';
      const changes = await changeBox(box.dataDir, due, Date.now());
      await box.start();
      return changes;
    },
    async [Symbol.asyncDispose]() {
      for (const one of [box, dns, remote]) await one[Symbol.asyncDispose]();
    },
  };
}

async function openStore(dataDir: string): Promise<MailStore> {
  const fatal = (error: Error): never => {
    throw error;
  };
  return MailStore.open({
    dataDir,
    database: await databaseOfDirectory(dataDir),
    engine: storeParts(),
    keepFree: 0,
    clock: () => Date.now(),
    log: quiet,
    meter: quiet,
    fatal,
  });
}
