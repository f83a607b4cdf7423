import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tool } from '../support/mcp.ts';
import { operatorOf, type PortalBox, portalBox } from '../support/visitor.ts';

let portal: PortalBox;

beforeAll(async () => {
  portal = await portalBox();
});
afterAll(() => portal.box[Symbol.asyncDispose]());

/** Text of a page without markup and repeated spaces. */
const plain = (text: string): string => text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

describe('the overview', () => {
  test('begins with what needs attention, each with the page that resolves it', async () => {
    const { owner, path, token } = portal.acme;
    await tool(portal.base, 'add_email_domain', { domain: 'new.test' }, token);
    const { text } = await owner.get(path);
    expect(plain(text)).toContain('new.test is not verified: it can neither send nor receive mail yet. Set up DNS');
    expect(text).toMatch(/\/domains\/dom_\d+">Set up DNS/);
    expect(plain((await portal.other.owner.get(portal.other.path)).text)).toContain('Nothing needs your attention.');
  });

  test.each(['24h', '7d', '30d', 'no range'])('has charts of %s', async (range) => {
    const { text } = await portal.acme.owner.get(`${portal.acme.path}?range=${encodeURIComponent(range)}`);
    const titles = [...text.matchAll(/class="chart-title">([^<]+)</g)].map(([, title]) => title);
    expect(titles).toEqual(['Received', 'Sent', 'Changes by agents']);
    // Changes by the token that set the organization up.
    expect(text).toMatch(/<rect\s+class="series-0"/);
  });

  test('has the queue of the server for its operator, and for nobody else', async () => {
    const { box, base, acme } = portal;
    const operator = await operatorOf(box);
    expect((await operator.get('/o/org_1')).text).toContain('Oldest queued mail');
    const refused = await tool(base, 'get_server_history', {}, acme.token);
    expect(refused.status).toBeGreaterThanOrEqual(400);
  });
});
