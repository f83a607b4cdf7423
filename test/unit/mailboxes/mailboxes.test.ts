import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliver, deliveryTrace } from '../../../mail/delivery/deliver.ts';
import { route } from '../../../mail/delivery/route.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { setPassword } from '../../../mail/store/account/credential.ts';
import { purgeRemovedAccount, removedAccounts } from '../../../mail/store/account/account-removal.ts';
import { createMailbox, findMailbox, listMailboxes } from '../../../mail/store/mailbox/mailbox.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { removeEmailDomain } from '../../../src/operations/domains/remove.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import {
  createAppPassword,
  listAppPasswordsOf,
  revokeAppPassword,
} from '../../../src/operations/mailboxes/app-passwords.ts';
import { revealEmailCredentials, rotateEmailCredentials } from '../../../src/operations/mailboxes/credentials.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { purgeDeletedMailboxes } from '../../../src/mailboxes/deletion-commands.ts';
import { listEmails } from '../../../src/operations/mailboxes/list.ts';
import { updateEmail } from '../../../src/operations/mailboxes/update.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { listEmailForwarders, setEmailForwarder } from '../../../src/operations/sending/forwarders.ts';
import { getInboundWebhook, setInboundWebhook } from '../../../src/operations/sending/webhooks.ts';
import { attachEmailToService } from '../../../src/operations/services/attachments.ts';
import { getServiceEnvironment } from '../../../src/operations/services/environment.ts';
import { makeService } from '../../../src/operations/services/services.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { twoTenants } from '../../support/tenants.ts';
import { calls, type Calls } from '../../support/calls.ts';

let box: Calls;
let owner: Caller;

beforeEach(async () => {
  box = await calls();
  owner = await box.organization('Owner');
  await onboard(owner, 'shop.example');
});
afterEach(() => box[Symbol.asyncDispose]());

interface Mailbox {
  id: string;
  address: string;
  usedBytes: number;
  quotaBytes: number | null;
}

async function onboard(caller: Caller, domain: string): Promise<void> {
  await box.done(caller, addEmailDomain, { domain });
  await box.perform(caller, verifyEmailDomain, { domain });
}
const provision = async (localPart = 'info', more: object = {}): Promise<Mailbox> =>
  (await box.done<{ mailbox: Mailbox }>(owner, provisionEmail, { domain: 'shop.example', localPart, ...more })).mailbox;
const accountOf = (mailbox: Mailbox): number => Number(mailbox.id.slice(4));
const routeOf = (text: string) => route(box.world.store, parseAddress(text) ?? expect.fail(text));

async function arrive(account: number, to: string): Promise<void> {
  const data = Uint8Array.from(
    Buffer.from(`Message-ID: <${Math.random()}@a.example>\r\nSubject: old secret\r\n\r\nbody\r\n`),
  );
  await box.world.store.write(deliver, {
    trace: 'trace',
    sender: 'a@a.example',
    data,
    file: null,
    index: indexMessage(data),
    onward: [],
    eightBit: false,
    hold: null,
    from: { ip: '127.0.0.1', helo: 'a.example' },
    deliveries: [{ account, to, trace: deliveryTrace('a@a.example', to) }],
  });
}

/** Runs the retention jobs now, as if deleted mailboxes could not be restored any more. */
async function cleanUp(): Promise<void> {
  const { store } = box.world;
  await box.run('UPDATE deleted_account SET purge_at = 0');
  while (await store.write(purgeDeletedMailboxes, undefined));
  for (const account of await store.read(removedAccounts, undefined)) {
    while ((await store.write(purgeRemovedAccount, { account })).more);
  }
}

/** Finds rows of any table that reference a missing account, mailbox, email, domain or service. */
async function orphans(): Promise<Record<string, number>> {
  const parents = {
    account_id: 'account',
    mailbox_id: 'mailbox',
    email_id: 'email',
    domain_id: 'domain',
    service_id: 'service',
  };
  const history = ['journal', 'journal_key', 'submission'];
  const found: Record<string, number> = {};
  let looked = 0;
  for (const [column, parent] of Object.entries(parents)) {
    const tables = await box.rows<{ name: string }>(
      `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.name = '${column}'`,
    );
    for (const { name } of tables.filter((one) => !history.includes(one.name))) {
      looked++;
      const [row] = await box.rows<{ n: number }>(
        `SELECT count(*) AS n FROM ${name} WHERE ${column} IS NOT NULL AND ${column} NOT IN (SELECT id FROM ${parent})`,
      );
      if (row !== undefined && row.n > 0) found[`${name}.${column}`] = row.n;
    }
  }
  expect(looked).toBeGreaterThan(15);
  const [blobs] = await box.rows<{ n: number }>(
    'SELECT count(*) AS n FROM blob WHERE id NOT IN (SELECT blob_id FROM email)',
  );
  if (blobs !== undefined && blobs.n > 0) found['blob'] = blobs.n;
  return found;
}

describe('a reused address', () => {
  test('has nothing of the deleted mailbox', async () => {
    const { service } = await box.done<{ service: { id: string } }>(owner, makeService, { name: 'shop' });
    const first = await provision('info', {
      attachServiceId: service.id,
      displayName: 'Old name',
      quotaBytes: 5_000_000,
    });
    const mailboxId = first.id;
    const old = await box.done<{ imap: { password: string } }>(owner, revealEmailCredentials, { mailboxId });
    const app = await box.done<{ appPassword: { id: string } }>(owner, createAppPassword, {
      mailboxId,
      name: 'old phone',
    });
    await box.done(owner, setInboundWebhook, { mailboxId, url: 'https://93.184.216.34/hook' });
    await box.done(owner, setEmailForwarder, {
      sourceAddress: 'info@shop.example',
      destinationAddress: 'a@elsewhere.example',
    });
    for (let i = 0; i < 250; i++) await arrive(accountOf(first), 'info@shop.example');
    await box.world.store.write(createMailbox, { account: accountOf(first), name: 'Projects/2026', role: null });
    const inbox = await box.world.store.read(findMailbox, { account: accountOf(first), name: 'INBOX' });
    const folder = await box.world.store.read(findMailbox, { account: accountOf(first), name: 'Projects/2026' });

    const gone = await box.done(owner, deleteEmail, { mailboxId, confirm: 'INFO@shop.example' });
    expect(gone).toMatchObject({ deleted: true, detachedServiceIds: [service.id] });
    expect(box.test.events).toContain(`revoked ${accountOf(first)} all`);
    const second = await provision();
    // In the same second, and before any retention job.
    expect(second).toMatchObject({
      address: first.address,
      usedBytes: 0,
      quotaBytes: null,
      displayName: null,
      attachedServiceIds: [],
    });
    expect(accountOf(second)).toBeGreaterThan(accountOf(first));
    for (const tidied of [false, true]) {
      if (tidied) await cleanUp();
      const account = accountOf(second);
      const folders = await box.world.store.read(listMailboxes, { account });
      expect(folders.map((one) => [one.name, one.total])).not.toContainEqual(['Projects/2026', expect.anything()]);
      expect(folders.reduce((sum, one) => sum + one.total, 0)).toBe(0);
      expect(Math.min(...folders.map((one) => one.uidValidity))).toBeGreaterThan(
        Math.max(inbox?.uidValidity ?? 0, folder?.uidValidity ?? 0),
      );
      expect(folders.some((one) => one.id === inbox?.id)).toBe(false);
      const mine = { mailboxId: second.id };
      expect(await box.done(owner, listAppPasswordsOf, mine)).toEqual({ appPasswords: [] });
      expect(await box.done(owner, getInboundWebhook, mine)).toEqual({ webhook: null });
      expect(await box.done(owner, listEmailForwarders)).toMatchObject({ forwarders: [] });
      expect(await box.done(owner, getServiceEnvironment, { serviceId: service.id })).toMatchObject({ env: {} });
      const now = await box.done<{ imap: { password: string } }>(owner, revealEmailCredentials, mine);
      expect(now.imap.password).not.toBe(old.imap.password);
      expect(await box.refused(owner, revokeAppPassword, { ...mine, appPasswordId: app.appPassword.id })).toMatchObject(
        { error: 'not_found' },
      );
      expect(await box.refused(owner, revealEmailCredentials, { mailboxId })).toMatchObject({ error: 'not_found' });
    }
    expect(await orphans()).toEqual({});
    expect(await box.rows('SELECT count(*) AS n FROM email')).toEqual([{ n: 0 }]);
    expect(await box.rows('SELECT count(*) AS n FROM account')).toEqual([{ n: 1 }]);
  });

  test('repeated creation never reuses a UIDVALIDITY', async () => {
    const seen = new Set<number>();
    for (let i = 0; i < 8; i++) {
      const made = await provision();
      const folders = await box.world.store.read(listMailboxes, { account: accountOf(made) });
      for (const { uidValidity } of folders) {
        expect(seen.has(uidValidity)).toBe(false);
        seen.add(uidValidity);
      }
      await box.done(owner, deleteEmail, { mailboxId: made.id });
      await cleanUp();
    }
  });

  test('queued mail for the old mailbox does not reach the new one', async () => {
    const first = await provision();
    await box.done(owner, deleteEmail, { mailboxId: first.id });
    const second = await provision();
    await arrive(accountOf(first), 'info@shop.example').catch(() => undefined);
    await cleanUp();
    await expect(arrive(accountOf(first), 'info@shop.example')).rejects.toThrow(/no inbox|does not exist/);
    expect(await box.done(owner, listEmails)).toMatchObject({ mailboxes: [{ id: second.id, usedBytes: 0 }] });
    expect(await orphans()).toEqual({});
  });
});

test('200 concurrent deletions and creations, with other changes, leave no orphaned row', async () => {
  const { service } = await box.done<{ service: { id: string } }>(owner, makeService, { name: 'shop' });
  const at = { address: 'info@shop.example' };
  const other: [Parameters<Calls['perform']>[1], object][] = [
    [createAppPassword, { ...at, name: 'phone' }],
    [rotateEmailCredentials, at],
    [setInboundWebhook, { ...at, url: 'https://93.184.216.34/hook' }],
    [attachEmailToService, { ...at, serviceId: service.id }],
    [updateEmail, { ...at, quotaBytes: 5_000_000, displayName: 'Name' }],
    [setEmailForwarder, { sourceAddress: at.address, destinationAddress: 'a@elsewhere.example' }],
    [revealEmailCredentials, at],
  ];
  const outcomes = new Set<string>();
  let made = 0;
  /** One of twenty workers that perform every action ten times, in their own order. */
  const work = async (i: number): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) {
      const attach = turn % 3 === 0 && { attachServiceId: service.id };
      const steps: [Parameters<Calls['perform']>[1], object][] = [
        [provisionEmail, { domain: 'shop.example', localPart: 'info', ...attach }],
        other[(i + turn) % other.length]!,
        [deleteEmail, at],
      ];
      for (let step = 0; step < 3; step++) {
        const one = await box.perform(owner, ...steps[(i + step) % 3]!);
        outcomes.add(one.kind === 'done' ? 'done' : one.refusal.error);
        if (one.kind === 'done' && 'dnsStatus' in one.result) made++;
      }
      if (i === 0) await cleanUp();
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => work(i)));
  expect([...outcomes].filter((one) => !['done', 'not_found', 'already_exists', 'conflict'].includes(one))).toEqual([]);
  expect(made).toBeGreaterThan(50);
  await box.perform(owner, deleteEmail, at);
  await cleanUp();
  expect(await orphans()).toEqual({});
  for (const table of ['account', 'address', 'credential', 'mailbox', 'mailbox_setup', 'webhook', 'service_mailbox']) {
    expect(await box.rows(`SELECT count(*) AS n FROM ${table}`), table).toEqual([{ n: 0 }]);
  }
}, 180_000);

test('a domain deleted while mailboxes are created on it leaves both or none', async () => {
  for (let round = 0; round < 5; round++) {
    const domain = `race${round}.example`;
    await box.done(owner, addEmailDomain, { domain });
    await Promise.all([
      ...Array.from({ length: 3 }, (_, i) => box.perform(owner, provisionEmail, { domain, localPart: `a${i}` })),
      box.perform(owner, removeEmailDomain, { domain }),
      box.perform(owner, setEmailForwarder, {
        sourceAddress: `x@${domain}`,
        destinationAddress: 'a@elsewhere.example',
      }),
    ]);
  }
  expect(await orphans()).toEqual({});
});

test('a password set while its mailbox is deleted leaves no row', async () => {
  const made = await provision();
  const account = accountOf(made);
  await box.done(owner, deleteEmail, { mailboxId: made.id });
  const credential = {
    ref: 'r',
    kind: 'mailbox' as const,
    name: 'password',
    scopes: [],
    storedKey: new Uint8Array(32),
    serverKey: new Uint8Array(32),
    sealed: null,
    expiresAt: null,
  };
  expect(await box.world.store.write(setPassword, { account, credential })).toEqual({ kind: 'missing' });
  await cleanUp();
  expect(await box.world.store.write(setPassword, { account, credential })).toEqual({ kind: 'missing' });
  await expect(box.world.store.write(createMailbox, { account, name: 'x', role: null })).rejects.toThrow(
    /does not exist/,
  );
  expect(await orphans()).toEqual({});
});

describe('provision', () => {
  test('refuses invalid local parts and line breaks', async () => {
    const wrong = [
      'a b',
      'a@b',
      'info+tag',
      '',
      'x'.repeat(65),
      'a\r\nb',
      'a\0',
      '.a',
      'a.',
      'a..b',
      '<a>',
      '"a"@x',
      'a,b',
      '../x',
    ];
    for (const localPart of [...wrong, '\u2028', 'a\u2029', 'a\u0085', '\ud800', '\u007f', 'a\tb', '"a\u2028b"']) {
      const outcome = await box.perform(owner, provisionEmail, { domain: 'shop.example', localPart });
      expect(outcome, localPart).toMatchObject({ kind: 'refused', refusal: { error: 'invalid_arguments' } });
    }
    expect(await box.rows('SELECT count(*) AS n FROM account')).toEqual([{ n: 0 }]);
  });

  test('an address is created once, in any case, also by twenty concurrent calls', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        box.perform(owner, provisionEmail, { domain: 'SHOP.example', localPart: i % 2 === 0 ? 'Info' : 'INFO' }),
      ),
    );
    expect(all.filter((one) => one.kind === 'done')).toHaveLength(1);
    expect(all.filter((one) => one.kind === 'refused' && one.refusal.error === 'already_exists')).toHaveLength(19);
  });

  test('the same address on an unproved claim of another organization is another mailbox, and gets nothing', async () => {
    const squatter = await box.organization('Squatter');
    await box.done(squatter, addEmailDomain, { domain: 'shop.example' });
    const theirs = await box.done<{ mailbox: Mailbox; dnsStatus: string }>(squatter, provisionEmail, {
      domain: 'shop.example',
      localPart: 'info',
    });
    expect(theirs.dnsStatus).toBe('unverified');
    const mine = await provision();
    expect(await routeOf('info@shop.example')).toMatchObject({ kind: 'here', accounts: [accountOf(mine)] });
    await box.done(squatter, provisionEmail, { domain: 'shop.example', localPart: 'sales' });
    expect(await routeOf('sales@shop.example')).toEqual({ kind: 'unknown' });
    await box.done(owner, deleteEmail, { mailboxId: mine.id });
    expect(await routeOf('info@shop.example')).toEqual({ kind: 'deleted' });
    expect(await box.refused(owner, deleteEmail, { mailboxId: theirs.mailbox.id })).toMatchObject({
      error: 'not_found',
    });
  });

  test('postmaster and abuse reach the first mailbox of the domain until there is one of that name', async () => {
    const first = await provision('info');
    await provision('sales');
    for (const name of ['postmaster', 'PostMaster', 'abuse']) {
      expect(await routeOf(`${name}@shop.example`)).toMatchObject({ kind: 'here', accounts: [accountOf(first)] });
    }
    const postmaster = await provision('postmaster');
    expect(await routeOf('Postmaster@shop.example')).toMatchObject({ accounts: [accountOf(postmaster)] });
    expect(await routeOf('abuse@shop.example')).toMatchObject({ accounts: [accountOf(first)] });
    await box.done(owner, deleteEmail, { mailboxId: first.id });
    expect((await routeOf('abuse@shop.example')).kind).toBe('here');
  });

  test('an unknown domain and one of another organization get the same error', async () => {
    const other = await box.organization('Other');
    await onboard(other, 'other.example');
    const foreign = await box.refused(owner, provisionEmail, { domain: 'other.example', localPart: 'a' });
    const unknown = await box.refused(owner, provisionEmail, { domain: 'nobody.example', localPart: 'a' });
    expect(foreign.error).toBe('domain_not_onboarded');
    expect(JSON.stringify({ ...foreign, requestId: '' }).replaceAll('other', 'x')).toBe(
      JSON.stringify({ ...unknown, requestId: '' }).replaceAll('nobody', 'x'),
    );
  });
});

describe('quota', () => {
  test('is set, changed, removed and limited', async () => {
    const made = await provision('info', { quotaBytes: 1_000_000 });
    expect(made.quotaBytes).toBe(1_000_000);
    const at = { mailboxId: made.id };
    expect(await box.done(owner, updateEmail, { ...at, quotaBytes: 2 ** 50 })).toMatchObject({
      mailbox: { quotaBytes: 2 ** 50 },
    });
    expect(await box.done(owner, updateEmail, { ...at, quotaBytes: null })).toMatchObject({
      mailbox: { quotaBytes: null },
    });
    for (const quotaBytes of [0, -1, 999_999, 2 ** 50 + 1, 1.5e6 + 0.5, 'x', Number.MAX_VALUE]) {
      expect(await box.refused(owner, updateEmail, { ...at, quotaBytes }), String(quotaBytes)).toMatchObject({
        error: 'invalid_arguments',
      });
    }
  });

  test('defers mail when full, and accepts it again later', async () => {
    const made = await provision('info', { quotaBytes: 1_000_000 });
    await box.run('UPDATE account SET used_bytes = 1000000 WHERE id = ?', accountOf(made));
    expect(await routeOf('info@shop.example')).toMatchObject({ kind: 'full' });
    await box.done(owner, updateEmail, { mailboxId: made.id, quotaBytes: null });
    expect(await routeOf('info@shop.example')).toMatchObject({ kind: 'here' });
  });
});

describe('hidden IMAP capabilities', () => {
  test('are known ones, replaced as a list, and shown', async () => {
    const at = { mailboxId: (await provision()).id };
    const hide = (...hiddenImapCapabilities: string[]) => ({ ...at, hiddenImapCapabilities });
    expect(await box.done(owner, updateEmail, hide('quota', 'LIST-STATUS'))).toMatchObject({
      mailbox: { hiddenImapCapabilities: ['LIST-STATUS', 'QUOTA'] },
    });
    const refused = await box.refused(owner, updateEmail, hide('MOVE', 'MOVES'));
    expect(refused).toMatchObject({ error: 'invalid_arguments' });
    expect(JSON.stringify(refused)).toContain('does not list MOVES');
    expect(await box.refused(owner, updateEmail, hide('IMAP4REV1'))).toMatchObject({ error: 'invalid_arguments' });
    expect(await box.done(owner, updateEmail, { ...at, displayName: 'Name' })).toMatchObject({
      mailbox: { hiddenImapCapabilities: ['LIST-STATUS', 'QUOTA'] },
    });
    expect(await box.done(owner, updateEmail, hide())).toMatchObject({ mailbox: { hiddenImapCapabilities: [] } });
  });
});

describe('app passwords', () => {
  test('have the requested scopes; a read-only one never sends', async () => {
    const at = { mailboxId: (await provision()).id };
    const made = (more: object) =>
      box.done<{ appPassword: object }>(owner, createAppPassword, { ...at, name: 'x', ...more });
    expect((await made({})).appPassword).toMatchObject({
      scopes: ['imap', 'smtp', 'jmap'],
      readOnly: false,
      expiresAt: null,
    });
    expect((await made({ scopes: ['smtp'] })).appPassword).toMatchObject({ scopes: ['smtp'] });
    expect((await made({ readOnly: true })).appPassword).toMatchObject({ scopes: ['imap', 'jmap'], readOnly: true });
    for (const more of [
      { scopes: ['imap', 'smtp'], readOnly: true },
      { scopes: [] },
      { scopes: ['read-only'] },
      { scopes: ['pop3'] },
      { expiresAt: '2020-01-01T00:00:00Z' },
      { expiresAt: 'soon' },
      { name: '' },
      { name: 'a\nb' },
    ]) {
      expect(
        await box.refused(owner, createAppPassword, { ...at, name: 'x', ...more }),
        JSON.stringify(more),
      ).toMatchObject({ error: 'invalid_arguments' });
    }
    expect(await box.done(owner, listAppPasswordsOf, at)).toMatchObject({
      appPasswords: [{ id: 'pwd_2' }, { id: 'pwd_3' }, { id: 'pwd_4' }],
    });
  });

  test('are at most fifty with the mailbox’s own, also in sixty concurrent calls', async () => {
    const at = { mailboxId: (await provision()).id };
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, i) => box.perform(owner, createAppPassword, { ...at, name: `n${i}` })),
    );
    expect(all.filter((one) => one.kind === 'done')).toHaveLength(49);
    expect(all.filter((one) => one.kind === 'refused').every((one) => one.refusal.error === 'conflict')).toBe(true);
  });

  test('revoking one closes its sessions only; the mailbox’s own password cannot be revoked', async () => {
    const mailbox = await provision();
    const at = { mailboxId: mailbox.id };
    const app = await box.done<{ appPassword: { id: string } }>(owner, createAppPassword, { ...at, name: 'x' });
    expect(await box.refused(owner, revokeAppPassword, { ...at, appPasswordId: 'pwd_1' })).toMatchObject({
      error: 'not_found',
    });
    const other = await provision('sales');
    expect(
      await box.refused(owner, revokeAppPassword, { mailboxId: other.id, appPasswordId: app.appPassword.id }),
    ).toMatchObject({ error: 'not_found' });
    expect(box.test.events).toEqual([]);
    await box.done(owner, revokeAppPassword, { ...at, appPasswordId: app.appPassword.id });
    expect(box.test.events).toEqual([`revoked ${accountOf(mailbox)} 2`]);
  });
});

describe('reveal', () => {
  test('each response has an audit row, also with a hundred concurrent calls, and no row has a secret', async () => {
    const made = await provision();
    const all = await Promise.all(
      Array.from({ length: 100 }, () =>
        box.done<{ auditId: string; imap: { password: string } }>(owner, revealEmailCredentials, {
          mailboxId: made.id,
          reason: 'test',
        }),
      ),
    );
    expect(new Set(all.map((one) => one.auditId)).size).toBe(100);
    expect(
      await box.rows(
        `SELECT count(*) AS n FROM audit WHERE operation = 'reveal_email_credentials' AND outcome = 'done'`,
      ),
    ).toEqual([{ n: 100 }]);
    const stranger = await box.organization('Stranger');
    await box.refused(stranger, revealEmailCredentials, { mailboxId: made.id });
    expect(await box.rows(`SELECT outcome FROM audit WHERE organization_id = ${stranger.organization}`)).toEqual([
      { outcome: 'not_found' },
    ]);
    const text = JSON.stringify(await box.rows('SELECT * FROM audit'));
    expect(text).not.toContain(all[0]?.imap.password);
  });

  test('rotating creates a new password, returned only on request', async () => {
    const at = { mailboxId: (await provision()).id };
    const before = await box.done<{ imap: { password: string } }>(owner, revealEmailCredentials, at);
    const quiet = await box.done(owner, rotateEmailCredentials, at);
    expect(quiet).not.toHaveProperty('password');
    const shown = await box.done<{ password: string }>(owner, rotateEmailCredentials, { ...at, reveal: true });
    const after = await box.done<{ imap: { password: string } }>(owner, revealEmailCredentials, at);
    expect(after.imap.password).toBe(shown.password);
    expect(after.imap.password).not.toBe(before.imap.password);
    const own = await box.done(owner, rotateEmailCredentials, { ...at, password: "it's-my-own $ecret", reveal: true });
    expect(own).toMatchObject({ generated: false });
    expect(own).not.toHaveProperty('password');
    for (const password of ['short', 'x'.repeat(201), 'with\ncontrol-char', 'with\u0000null-char!']) {
      expect(await box.refused(owner, rotateEmailCredentials, { ...at, password })).toMatchObject({
        error: 'invalid_arguments',
      });
    }
  });
});

test('a deletion confirmed with another address does nothing', async () => {
  const made = await provision();
  expect(await box.refused(owner, deleteEmail, { mailboxId: made.id, confirm: 'other@shop.example' })).toMatchObject({
    error: 'invalid_arguments',
  });
  expect(await box.done(owner, listEmails)).toMatchObject({ mailboxes: [{ id: made.id }] });
});

test('paged lists miss and repeat nothing; an invalid cursor is refused', async () => {
  for (let i = 0; i < 7; i++) await provision(`box${i}`);
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: { mailboxes: Mailbox[]; nextCursor: string | null } = await box.done(owner, listEmails, {
      limit: 3,
      ...(cursor !== undefined && { cursor }),
    });
    seen.push(...page.mailboxes.map((one) => one.address));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `box${i}@shop.example`));
  for (const cursor of ['abc', '-1', '1e3', '0x10', ' 1', '1.5', '', 'NaN', '9'.repeat(40)]) {
    expect(await box.refused(owner, listEmails, { cursor }), cursor).toMatchObject({ error: 'invalid_arguments' });
  }
});

describe('a password that a person chose', () => {
  test('is not revealed, to whoever asks; one that was generated is', async () => {
    await using tenants = await twoTenants();
    const { a, world } = tenants;
    const person = { ...a.caller, kind: 'user' as const, user: { id: 1, role: 'owner' as const } };
    const { mailboxId } = a.main;
    const ask = (name: string, args: object, caller: Caller = a.caller) =>
      perform(world, findOperation(name) ?? expect.fail(name), caller, { mailboxId, ...args });
    expect(await ask('rotate_email_credentials', { password: 'used-elsewhere-too' }, person)).toMatchObject({
      result: { generated: false },
    });
    for (const caller of [a.caller, person]) {
      const said = await ask('reveal_email_credentials', {}, caller);
      expect(said).toMatchObject({ refusal: { error: 'conflict', resource: 'password' } });
      expect(JSON.stringify(said)).not.toContain('used-elsewhere-too');
    }
    for (const [password, caller] of [
      [undefined, person],
      ['chosen-by-a-program', a.caller],
    ] as const) {
      await ask('rotate_email_credentials', { ...(password !== undefined && { password }) }, caller);
      expect(await ask('reveal_email_credentials', {})).toMatchObject({ kind: 'done' });
    }
  });

  test('and a plain member deletes no mailbox, by hand or by program', async () => {
    await using tenants = await twoTenants();
    const { a, world } = tenants;
    const mailboxes = [Number(a.main.mailboxId.slice(4))];
    const member = { ...a.caller, kind: 'user' as const, mailboxes, user: { id: 1, role: 'member' as const } };
    for (const caller of [member, { ...a.caller, mailboxes }]) {
      const said = await perform(world, findOperation('delete_email') ?? expect.fail(), caller, {
        mailboxId: a.main.mailboxId,
      });
      expect(said).toMatchObject({ refusal: { error: 'out_of_scope' } });
    }
  });
});

test('a display name with an address is refused when it is set, not when mail is sent', async () => {
  await using tenants = await twoTenants();
  const { a, world } = tenants;
  const { mailboxId, domainId } = a.main;
  const encoded = '=?utf-8?B?Y2VvQGJhbmsudGVzdA==?=';
  for (const displayName of ['ceo@bank.test', 'Boss <ceo@bank.test>', 'ceo\uff20bank.test', encoded]) {
    for (const [name, args] of [
      ['update_email', { mailboxId, displayName }],
      ['provision_email', { domainId, localPart: 'named', displayName }],
    ] as const) {
      const said = await perform(world, findOperation(name) ?? expect.fail(), a.caller, args);
      expect(said, displayName).toMatchObject({
        refusal: { error: 'invalid_arguments', issues: [{ path: 'displayName' }] },
      });
    }
  }
});
