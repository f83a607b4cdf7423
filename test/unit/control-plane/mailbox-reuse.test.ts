import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { rowId } from '../../../src/core/ids.ts';
import { readdir, readFile } from 'node:fs/promises';
import { servicesDir } from '../../../src/services/env-file.ts';
import { rowsOf } from '../../support/rows.ts';
import { type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function provision(of: Things, localPart: string): Promise<string> {
  const { mailbox } = await tenants.do('provision_email', { domainId: of.domainId, localPart });
  return (mailbox as { id: string }).id;
}

async function uidValidities(mailboxId: string): Promise<number[]> {
  const account = rowId('mailbox', mailboxId) ?? 0;
  const names = ['INBOX', 'Sent', 'Drafts', 'Junk', 'Trash', 'Archive'];
  const all = await Promise.all(names.map((name) => tenants.world.store.read(findMailbox, { account, name })));
  return all.flatMap((one) => (one === undefined ? [] : [one.uidValidity]));
}

/** Rows that hang on an account which is not there, by table. */
const orphans = query('test-orphans', async (rx): Promise<string[]> => {
  const found: string[] = [];
  for (const table of ['credential', 'address', 'webhook', 'service_mailbox', 'mailbox_setup', 'member_mailbox']) {
    // A deleted mailbox keeps what nobody reaches, and gets it back when it is restored.
    const states = ['webhook', 'mailbox_setup', 'member_mailbox'].includes(table) ? 'state <> 2' : 'state < 2';
    const rows = await rx.all(
      `SELECT account_id FROM ${table} WHERE account_id NOT IN (SELECT id FROM account WHERE ${states})`,
    );
    found.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`));
  }
  const bare = await rx.all(
    'SELECT id FROM account WHERE state < 2 AND (id NOT IN (SELECT account_id FROM address) OR id NOT IN (SELECT account_id FROM mailbox_setup))',
  );
  return [...found, ...bare.map((row) => `account ${JSON.stringify(row)}`)];
});

describe('a mailbox that is deleted, and a new one of the same address', () => {
  test('has nothing of the old one', async () => {
    const { a, world } = tenants;
    const { mailboxId: old, address, serviceId, appPasswordId, domain } = a.main;
    const oldToken = await tenants.caller({ actions: ['read', 'manage'], mailboxIds: [old] });
    const before = await uidValidities(old);
    expect(before).toHaveLength(6);
    const revealed = JSON.stringify(await tenants.do('reveal_email_credentials', { mailboxId: old }));
    await tenants.do('delete_email', { mailboxId: old });
    const made = await provision(a.main, 'anna');
    expect(made).not.toBe(old);
    expect(await uidValidities(made)).toHaveLength(6);
    expect((await uidValidities(made)).filter((one) => before.includes(one))).toEqual([]);
    expect(await tenants.do('list_app_passwords', { mailboxId: made })).toEqual({ appPasswords: [] });
    expect(await tenants.do('get_email_inbound_webhook', { mailboxId: made })).toEqual({ webhook: null });
    expect(await tenants.do('list_email_forwarders', { sourceAddress: address })).toMatchObject({ forwarders: [] });
    const revoked = await tenants.try('revoke_app_password', { mailboxId: made, appPasswordId });
    expect(revoked).toMatchObject({ refusal: { error: 'not_found' } });
    const { env } = (await tenants.do('get_service_environment', { serviceId })) as { env: object };
    expect(Object.keys(env).filter((name) => name.startsWith('EMAIL_'))).toEqual([]);
    const { imap } = JSON.parse(revealed) as { imap: { password: string } };
    const now = await tenants.do('reveal_email_credentials', { mailboxId: made });
    expect(JSON.stringify(now)).not.toContain(imap.password);
    for (const args of [{ mailboxId: made }, { address: `anna@${domain}` }, {}]) {
      expect(await tenants.try('reveal_email_credentials', args, oldToken)).toMatchObject({ kind: 'refused' });
    }
    expect(await world.store.read(orphans, undefined)).toEqual([]);
  });

  test('gives out no UIDVALIDITY again, also when the clock goes back', async () => {
    const seen: number[] = [];
    for (let i = 0; i < 5; i++) {
      const made = await provision(tenants.a.side, 'again');
      seen.push(...(await uidValidities(made)));
      await tenants.do('delete_email', { mailboxId: made });
      tenants.clock.now -= 1_000;
    }
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('deleting and making at the same time', () => {
  test('leaves one or none, and nothing that belongs to nobody', async () => {
    const { a, world } = tenants;
    const { serviceId } = a.side;
    await tenants.do('detach_email_from_service', { mailboxId: a.side.mailboxId, serviceId });
    for (let round = 0; round < 15; round++) {
      const localPart = `race${round}`;
      const address = `${localPart}@${a.side.domain}`;
      const first = await provision(a.side, localPart);
      const work = [
        tenants.try('delete_email', { mailboxId: first }),
        tenants.try('provision_email', { domainId: a.side.domainId, localPart, attachServiceId: serviceId }),
        tenants.try('attach_email_to_service', { mailboxId: first, serviceId, alias: `r${round}` }),
        tenants.try('set_email_inbound_webhook', { mailboxId: first, url: 'https://hooks.example.net/x' }),
        tenants.try('create_app_password', { mailboxId: first, name: 'phone' }),
        tenants.try('update_email', { mailboxId: first, displayName: 'Race', quotaBytes: 2_000_000 }),
        tenants.try('rotate_email_credentials', { mailboxId: first }),
        tenants.try('provision_email', { domainId: a.side.domainId, localPart }),
        tenants.try('delete_email', { address }),
      ];
      const all = await Promise.all(round % 2 === 0 ? work : work.toReversed());
      expect(all.flatMap((one) => (one.kind === 'refused' ? [one.refusal.error] : []))).not.toContain('internal');
      expect(await world.store.read(orphans, undefined)).toEqual([]);
      await tenants.try('delete_email', { address });
    }
    const rows = await rowsOf(world.store);
    expect(rows.get('service_mailbox')?.filter((row) => row.includes(`"service_id":${serviceId.slice(4)},`))).toEqual(
      [],
    );
    const files = await readdir(servicesDir(tenants.dataDir));
    expect(files.filter((file) => !file.endsWith('.env'))).toEqual([]);
    const text = await readFile(`${servicesDir(tenants.dataDir)}/${serviceId}.env`, 'utf8');
    expect(text).not.toContain('EMAIL_');
  });

  test('a domain goes with nothing left, or stays with its mailbox', async () => {
    const { world } = tenants;
    for (let round = 0; round < 3; round++) {
      const name = `race${round}.test`;
      const { domain } = await tenants.do('add_email_domain', { domain: name });
      const { id: domainId } = domain as { id: string };
      const all = await Promise.all([
        tenants.try('remove_email_domain', { domainId }),
        tenants.try('provision_email', { domainId, localPart: 'late' }),
        tenants.try('set_email_forwarder', { sourceAddress: `f@${name}`, destinationAddress: 'x@else.example' }),
        tenants.try('rotate_dkim_keys', { domainId }),
        tenants.try('verify_email_domain', { domainId }),
        tenants.try('create_email_api_key', { name: 'k', allowedDomains: [name] }),
      ]);
      expect(all.flatMap((one) => (one.kind === 'refused' ? [one.refusal.error] : []))).not.toContain('internal');
      const gone = await world.store.read(hangingOnDomains, undefined);
      expect(gone).toEqual([]);
    }
  });
});

const hangingOnDomains = query('test-domain-orphans', async (rx): Promise<string[]> => {
  const found: string[] = [];
  for (const table of ['dkim_key', 'domain_setup', 'forwarder', 'address']) {
    const rows = await rx.all(`SELECT domain_id FROM ${table} WHERE domain_id NOT IN (SELECT id FROM domain)`);
    found.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`));
  }
  return found;
});
