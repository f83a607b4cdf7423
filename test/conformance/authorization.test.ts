import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { http } from '../support/mcp.ts';
import { decided, registered } from '../support/oauth.ts';
import { portalBox } from '../support/visitor.ts';

const SUITE = join(import.meta.dirname, '../../node_modules/conformance-next/dist/index.js');

test('the authorization server passes what the suite asks of one, with a person who allows it', async () => {
  const { box, base, acme } = await portalBox();
  await using _ = box;
  const port = await freePort();
  const client = await registered(base, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const args = [
    'authorization',
    '--url',
    base,
    '--client-id',
    client,
    '--resource',
    `${base}/mcp`,
    '--port',
    String(port),
  ];
  const suite = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(suite, 'close');
  const said: string[] = [];
  for await (const line of createInterface({ input: suite.stdout })) {
    said.push(line);
    if (!line.startsWith(`${base}/oauth/authorize?`)) continue;
    const queried = Object.fromEntries(new URL(line).searchParams);
    const back = await decided(acme.owner, queried);
    await http('GET', String(back.headers['location']));
  }
  const [code] = (await ended) as [number | null];
  const output = said.join('\n');
  expect(code, output).toBe(0);
  for (const one of ['authorization-server-metadata-endpoint', 'authorization-code-grant']) {
    expect(output).toMatch(new RegExp(`✓ ${one}: [1-9]\\d* passed, 0 failed`));
  }
});
