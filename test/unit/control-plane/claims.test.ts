import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { route } from '../../../mail/delivery/route.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** Not of those that local mode takes for granted. */
const DOMAIN = 'shop-of-alpha.com';

let tenants: Tenants;
const lookNow = fakeResolver({ 'A box.test': ['198.41.0.4'] });
beforeAll(async () => {
  tenants = await twoTenants({ lookNow });
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function where(address: string): Promise<unknown> {
  const parsed = parseAddress(address);
  return parsed && route(tenants.world.store, parsed);
}

describe('another organization’s claim of a domain', () => {
  test('is made without a word of whose it is, and proves nothing', async () => {
    const { a, b } = tenants;
    const { domain } = a.main;
    const before = await where(a.main.address);
    const made = await tenants.do('add_email_domain', { domain }, b.caller);
    const fresh = await tenants.do('add_email_domain', { domain: 'nobodys.test' }, b.caller);
    expect(Object.keys(made)).toEqual(Object.keys(fresh));
    expect(made['domain']).toMatchObject({ status: 'unverified', mailboxCount: 0 });
    const said = await tenants.try('verify_email_domain', { domain }, b.caller);
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'conflict' } });
    const listed = JSON.stringify(await tenants.do('get_email_domain', { domain }, b.caller));
    expect(listed).toContain('"status":"unverified"');
    expect(await where(a.main.address)).toEqual(before);
  });

  test('catches no mail, also with a mailbox or a forward of the same name', async () => {
    const { a, b } = tenants;
    const { domain, address } = a.main;
    const before = await where(address);
    await tenants.do('provision_email', { domain, localPart: 'anna' }, b.caller);
    await tenants.do('provision_email', { domain, localPart: 'new' }, b.caller);
    await tenants.do(
      'set_email_forwarder',
      { sourceAddress: address, destinationAddress: 'spy@else.example' },
      b.caller,
    );
    expect(await where(address)).toEqual(before);
    expect(await where(`new@${domain}`)).toEqual(await where(`never@${domain}`));
    const listed = await tenants.do('list_email_forwarders', { sourceAddress: address });
    expect(JSON.stringify(listed)).not.toContain('spy@');
  });

  test('of a part below or above it goes beside it', async () => {
    const { a, b } = tenants;
    const before = await where(a.main.address);
    await tenants.do('add_email_domain', { domain: `sub.${a.main.domain}` }, b.caller);
    await tenants.try('verify_email_domain', { domain: `sub.${a.main.domain}` }, b.caller);
    await tenants.try('provision_email', { domain: `sub.${a.main.domain}`, localPart: 'anna' }, b.caller);
    expect(await where(a.main.address)).toEqual(before);
    expect(await where(`anna@sub.${a.main.domain}`)).not.toEqual(before);
  });

  test('goes with nothing of the first one’s', async () => {
    const { a, b } = tenants;
    const { domain } = a.main;
    const shown = async (): Promise<unknown> => tenants.do('get_email_domain', { domainId: a.main.domainId });
    const before = await shown();
    for (const mailbox of (await tenants.do('list_emails', { domain }, b.caller))['mailboxes'] as { id: string }[]) {
      await tenants.do('delete_email', { mailboxId: mailbox.id }, b.caller);
    }
    await tenants.do('remove_email_domain', { domain }, b.caller);
    expect(await shown()).toEqual(before);
    expect(await where(a.main.address)).toMatchObject({ kind: 'here' });
  });

  test('that came first does not stand in the way of whoever proves it', async () => {
    const { a, b } = tenants;
    await tenants.do('add_email_domain', { domain: DOMAIN }, b.caller);
    await tenants.do('provision_email', { domain: DOMAIN, localPart: 'anna' }, b.caller);
    const early = await tenants.do('verify_email_domain', { domain: DOMAIN }, b.caller);
    expect(early['verified']).toBe(false);
    const { records, domain } = (await tenants.do('add_email_domain', { domain: DOMAIN })) as {
      records: { type: string; name: string; value: string; priority?: number }[];
      domain: { id: string };
    };
    for (const { type, name, value, priority } of records) {
      lookNow.zone[`${type} ${name}`] = [type === 'MX' ? `${priority} ${value.replace(/\.$/, '')}` : value];
    }
    const verified = await tenants.do('verify_email_domain', { domainId: domain.id });
    expect(verified['records']).toBeDefined();
    expect(verified['verified']).toBe(true);
    // The records are there now, but they are the other organization's keys.
    expect((await tenants.try('verify_email_domain', { domain: DOMAIN }, b.caller)).kind).toBe('done');
    expect((await tenants.do('get_email_domain', { domain: DOMAIN }, b.caller))['domain']).toMatchObject({
      status: 'unverified',
    });
    const { mailbox } = await tenants.do('provision_email', { domain: DOMAIN, localPart: 'anna' });
    expect(await where(`anna@${DOMAIN}`)).toMatchObject({
      kind: 'here',
      accounts: [Number((mailbox as { id: string }).id.slice(4))],
    });
    expect(JSON.stringify(await tenants.do('list_emails', {}, a.caller))).toContain(`anna@${DOMAIN}`);
  });

  test('that is removed and made again has to be proved again', async () => {
    for (const mailbox of (await tenants.do('list_emails', { domain: DOMAIN }))['mailboxes'] as { id: string }[]) {
      await tenants.do('delete_email', { mailboxId: mailbox.id });
    }
    await tenants.do('remove_email_domain', { domain: DOMAIN });
    const { domain } = await tenants.do('add_email_domain', { domain: DOMAIN });
    expect(domain).toMatchObject({ status: 'unverified' });
    // Its old records stand in the DNS still, with keys that are gone.
    expect((await tenants.do('verify_email_domain', { domain: DOMAIN }))['verified']).toBe(false);
  });
});
