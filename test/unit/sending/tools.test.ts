import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorCaller } from '../../../src/core/caller.ts';
import { releaseOutboxItem } from '../../../src/operations/operator/outbox.ts';
import { queue, releaseQueue } from '../../../src/operations/operator/queue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

const mail = () => ({ from: tenants.a.main.address, to: 'you@else.example', subject: 'Hello', text: 'Hello' });

describe('send_email', () => {
  test('sends a repeated call once and reports it; an idempotency key is exact', async () => {
    const first = await tenants.do('send_email', mail());
    expect(await tenants.do('send_email', mail())).toEqual({ ...first, duplicateOf: first['id'] });
    expect((await tenants.do('send_email', { ...mail(), allowDuplicate: true }))['duplicateOf']).toBeNull();
    const keyed = { ...mail(), idempotencyKey: 'k' };
    await tenants.do('send_email', keyed);
    expect(await tenants.try('send_email', { ...keyed, subject: 'Other' })).toMatchObject({
      refusal: { error: 'idempotency_conflict' },
    });
  });

  test('lets a limited token send from its own mailboxes only', async () => {
    const { main, side } = tenants.a;
    const caller = await tenants.caller({ actions: ['send'], mailboxIds: [main.mailboxId] });
    expect(await tenants.try('send_email', mail(), caller)).toMatchObject({ kind: 'done' });
    for (const from of [side.address, `other@${main.domain}`, `other@${side.domain}`]) {
      expect(await tenants.try('send_email', { ...mail(), from }, caller)).toMatchObject({
        refusal: { error: 'out_of_scope' },
      });
    }
    const project = await tenants.caller({ actions: ['send'], projectId: main.projectId });
    expect(await tenants.try('send_email', { ...mail(), from: `any@${main.domain}` }, project)).toMatchObject({
      kind: 'done',
    });
    expect(await tenants.try('send_email', { ...mail(), from: `any@${side.domain}` }, project)).toMatchObject({
      refusal: { error: 'from_domain_not_allowed' },
    });
  });

  test('returns the same error for a foreign domain and for an unknown one', async () => {
    const said = async (domain: string): Promise<string> => {
      const done = await tenants.try('send_email', { ...mail(), from: `x@${domain}` });
      return JSON.stringify(done)
        .replaceAll(domain, 'D')
        .replace(/req_[\w-]+/g, 'R');
    };
    expect(await said(tenants.b.main.domain)).toBe(await said('nobody-has-it.test'));
  });

  test('does not reach a mailbox of another organization here that blocks its sender', async () => {
    const { main } = tenants.b;
    const toThem = { ...mail(), to: main.address };
    expect(await tenants.try('send_email', toThem)).toMatchObject({ kind: 'done' });
    await tenants.do('add_sender_rule', { kind: 'block', pattern: tenants.a.main.domain }, tenants.b.caller);
    expect(await tenants.try('send_email', { ...toThem, subject: 'Again' })).toMatchObject({
      refusal: {
        error: 'recipient_blocked',
        message: `${main.address} takes no mail from ${tenants.a.main.address}.`,
      },
    });
  });

  test('needs the action send', async () => {
    const reader = await tenants.caller({ actions: ['read'] });
    expect(await tenants.try('send_email', mail(), reader)).toMatchObject({ refusal: { error: 'action_not_allowed' } });
  });

  test('writes an audit row with the recipients, and none for a dry run', async () => {
    const rows = async (): Promise<unknown[]> =>
      (await tenants.do('list_audit_events', { limit: 100 }))['events'] as [];
    const before = (await rows()).length;
    await tenants.do('send_email', { ...mail(), to: 'audited@else.example', dryRun: true });
    await tenants.do('send_email', { ...mail(), to: 'audited@else.example' });
    const after = await rows();
    expect(JSON.stringify(after[0])).toContain('audited@else.example');
    expect(after.length - before).toBeLessThanOrEqual(1);
  });
});

describe('templates', () => {
  test('are filled: escaped in html, verbatim in text, one line in the subject; versions stay', async () => {
    const texts = { subject: 'For {{ name }}', text: 'Hello {{name}}', html: '<p>Hello {{name}}</p>' };
    const made = await tenants.do('create_email_template', { name: 'welcome', ...texts });
    const { id } = made['template'] as { id: string };
    expect(made['template']).toMatchObject({ version: 1, variables: ['name'] });
    const { subject: _s, text: _t, ...rest } = mail();
    const name = '<b>Anna</b> & "Co"\r\nBcc: x@ext.example {{other}}';
    const sent = await tenants.do('send_email', { ...rest, template: { id, variables: { name } } });
    expect(sent).toMatchObject({ status: 'queued', envelope: { rcptTo: ['you@else.example'] } });
    expect(await tenants.try('send_email', { ...rest, template: { id, variables: {} } })).toMatchObject({
      refusal: { error: 'invalid_arguments', issues: [{ path: 'template.variables.name', message: 'is missing' }] },
    });
    await tenants.do('update_email_template', { templateId: id, ...texts, subject: 'Version two' });
    expect(await tenants.do('get_email_template', { templateId: id })).toMatchObject({
      template: { version: 2, subject: 'Version two' },
    });
    expect(await tenants.do('get_email_template', { templateId: id, version: 1 })).toMatchObject({
      template: { version: 1, newestVersion: 2, subject: 'For {{ name }}' },
    });
    await tenants.do('delete_email_template', { templateId: id });
    const gone = await tenants.try('send_email', { ...rest, template: { id, variables: { name: 'Bert' } } });
    expect(gone).toMatchObject({ refusal: { error: 'not_found' } });
  });

  test('with invalid braces or a taken name are refused', async () => {
    const wrong = { name: 'broken', subject: 'x', text: 'Hello {{first name}}' };
    expect(await tenants.try('create_email_template', wrong)).toMatchObject({
      refusal: { error: 'invalid_arguments' },
    });
    const twice = { name: 'twice', subject: 'x', text: 'x' };
    await tenants.do('create_email_template', twice);
    expect(await tenants.try('create_email_template', twice)).toMatchObject({ refusal: { error: 'already_exists' } });
  });
});

test('the outbox lists waiting messages and withdraws them', async () => {
  const sendAt = new Date(tenants.world.clock() + 3_600_000).toISOString();
  await tenants.do('send_email', { ...mail(), subject: 'later', sendAt });
  const { items } = await tenants.do('list_outbox', { limit: 100 });
  expect(items).toContainEqual(
    expect.objectContaining({ state: 'scheduled', sendAt, recipients: ['you@else.example'] }),
  );
  const id = (items as { outboxId: string; sendAt: string }[]).find((one) => one.sendAt === sendAt)?.outboxId;
  expect(await tenants.do('withdraw_outbox_item', { outboxId: id })).toEqual({ withdrawn: true });
  // It never left, so the same again is no repetition.
  const again = await tenants.do('send_email', { ...mail(), subject: 'later', sendAt });
  expect(again['duplicateOf']).toBeNull();
  expect(await tenants.try('withdraw_outbox_item', { outboxId: id })).toMatchObject({
    refusal: { error: 'not_found' },
  });
  expect(await tenants.try('withdraw_outbox_item', { outboxId: id }, tenants.b.caller)).toMatchObject({
    refusal: { error: 'not_found' },
  });
});

test('mail of a frozen organization cannot be released, and still waits after the unfreeze', async () => {
  const { outboxId, organizationId } = { ...tenants.b.main };
  const release = () => perform(tenants.world, releaseOutboxItem, operatorCaller(), { outboxId });
  const target = { targetOrganizationId: organizationId };
  await tenants.do('freeze_organization', target, operatorCaller());
  expect(await release()).toMatchObject({ refusal: { error: 'conflict' } });
  await tenants.do('unfreeze_organization', target, operatorCaller());
  const { items } = await tenants.do('list_outbox', { limit: 100 }, tenants.b.caller);
  expect(items).toContainEqual(expect.objectContaining({ outboxId, state: 'scheduled' }));
  expect(await release()).toMatchObject({ refusal: { error: 'not_found' } });
});

test('releasing all held mail skips that of a frozen organization, whatever the hold reason', async () => {
  const target = { targetOrganizationId: tenants.b.main.organizationId };
  const states = async (caller = tenants.b.caller) =>
    ((await tenants.do('list_queue', { limit: 100 }, caller))['items'] as { state: string }[]).map((one) => one.state);
  const release = (ids: 'all' | number[]) => perform(tenants.world, releaseQueue, operatorCaller(), { ids });
  const before = await states();
  await tenants.do('freeze_organization', target, operatorCaller());
  const held = Number(tenants.b.main.heldId.slice(4));
  expect(await release([held])).toMatchObject({ refusal: { error: 'not_found' } });
  expect(await release('all')).toMatchObject({ kind: 'done', result: { changed: 2 } });
  const waiting = await perform(tenants.world, queue, operatorCaller(), { state: 'held' });
  const why = JSON.stringify(waiting);
  expect(why).toContain('Held: the organization is frozen. It is sent when the organization works again');
  await tenants.do('unfreeze_organization', target, operatorCaller());
  expect(await states()).toEqual(before);
  expect(before).toContain('held');
  expect(await states(tenants.a.caller)).not.toContain('held');
  expect(await release([held])).toMatchObject({ kind: 'done' });
});

test('send_test_email defaults to the owner as recipient', async () => {
  const sent = await tenants.do('send_test_email', { from: tenants.a.main.address });
  expect(sent).toMatchObject({ envelope: { rcptTo: [expect.stringMatching(/^owner@|^admin@/) as string] } });
});
