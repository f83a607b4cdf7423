import { afterEach, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, type Said } from '../support/mcp.ts';

let box: Box | undefined;
afterEach(async () => {
  await box?.[Symbol.asyncDispose]();
  box = undefined;
});

const json = { 'content-type': 'application/json' };
let n = 0;

function overRest(at: Box, headers: Record<string, string> = {}): Promise<Said> {
  const body = JSON.stringify({ ownerEmail: `owner${++n}@people.test`, organizationName: `Nr ${n}` });
  return http('POST', `http://127.0.0.1:${at.port('http')}/api/auth/bootstrap-account`, { ...json, ...headers }, body);
}

function overMcp(at: Box, headers: Record<string, string> = {}): Promise<Said> {
  const params = { name: 'create_own_organization', arguments: { organizationName: `Nr ${++n}` } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return http('POST', `http://127.0.0.1:${at.port('http')}/mcp`, { ...json, ...headers }, body);
}

const passed = (all: readonly Said[]): number =>
  all.filter((one) => (one.status === 200 || one.status === 201) && !one.text.includes('rate_limited')).length;

describe('ten organizations an hour', () => {
  test('of a burst of a hundred by both endpoints, whatever X-Forwarded-For says, also after a crash', async () => {
    box = await startBox({ settings: { EXEMPT_NETWORKS: '192.0.2.0/24' } });
    const at = box;
    const spoofed = (i: number): Record<string, string> => ({ 'x-forwarded-for': `198.18.7.${i}` });
    // Stays below the rate limit of the endpoints, a hundred calls a minute.
    const all = await Promise.all(
      Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? overRest : overMcp)(at, spoofed(i))),
    );
    expect(passed(all)).toBe(10);
    const rest = all.find((one) => one.status === 429);
    expect(Number(rest?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(rest?.headers['retry-after'])).toBeLessThanOrEqual(3600);
    const mcp = all.find((one) => one.status === 200 && one.text.includes('rate_limited'));
    expect(mcp?.json?.['result']).toMatchObject({ isError: true, structuredContent: { error: 'rate_limited' } });
    await box.kill();
    await box.start();
    expect(passed([await overRest(at), await overMcp(at, spoofed(200))])).toBe(0);
  });

  test('of each client that a trusted proxy names', async () => {
    box = await startBox({ settings: { EXEMPT_NETWORKS: '192.0.2.0/24', TRUST_PROXY: '127.0.0.1' } });
    const at = box;
    const from = (ip: string): Record<string, string> => ({ 'x-forwarded-for': ip });
    const all: Said[] = [];
    for (let i = 0; i < 12; i++) all.push(await (i % 2 === 0 ? overRest : overMcp)(at, from('198.18.7.1')));
    expect(passed(all)).toBe(10);
    expect(passed([await overMcp(at, from('198.18.7.2'))])).toBe(1);
    // The client wrote the entries in front of the one that the proxy added.
    expect(passed([await overMcp(at, from('198.18.7.99, 198.18.7.1'))])).toBe(0);
  });
});
