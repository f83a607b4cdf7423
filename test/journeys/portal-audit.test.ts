import { afterAll, beforeAll, expect, test } from 'vitest';
import { tool } from '../support/mcp.ts';
import { type PortalBox, portalBox } from '../support/visitor.ts';

let portal: PortalBox;

beforeAll(async () => {
  portal = await portalBox();
});
afterAll(() => portal.box[Symbol.asyncDispose]());

interface AuditEvent {
  operation: string;
  target: string;
}

async function events(input: object, token = portal.acme.token): Promise<AuditEvent[]> {
  return (await tool(portal.base, 'list_audit_events', input, token)).body['events'] as AuditEvent[];
}

test('the audit log is filtered by operation, target, actor and time, within its organization', async () => {
  const made = await events({ operation: 'provision_email' });
  expect(made.map(({ operation }) => operation)).toEqual(['provision_email', 'provision_email']);
  expect(await events({ operation: 'provision_email' }, portal.other.token)).toEqual([]);
  const added = await events({ target: 'ACME.test', operation: 'add_email_domain' });
  expect(new Set(added.map(({ operation, target }) => `${operation} ${target}`))).toEqual(
    new Set(['add_email_domain acme.test']),
  );
  expect(await events({ actor: 'ada@' })).not.toEqual([]);
  expect((await events({ actor: 'nobody' })).length + (await events({ since: '2099-01-01T00:00:00Z' })).length).toBe(0);
  expect(await events({ before: '2099-01-01T00:00:00Z', limit: 1 })).toHaveLength(1);
});

test('its page has the filter in a form, keeps it, and names the call', async () => {
  const { owner, path } = portal.acme;
  const { text } = await owner.get(`${path}/audit?operation=provision+email&from=2020-01-01&to=2099-12-31`);
  expect(text).toMatch(/name="operation"[^>]*value="provision_email"/);
  expect(text).toMatch(/name="from"[^>]*value="2020-01-01"/);
  expect(text).toContain('&quot;since&quot;:&quot;2020-01-01T00:00:00Z&quot;');
  expect(text).not.toContain('add email domain');
  expect((await owner.get(`${path}/audit?operation=nothing`)).text).toContain('No entry matches the filter.');
});
