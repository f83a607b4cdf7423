import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowId } from '../../../src/core/ids.ts';
import { readTexts } from '../../../src/reading/read-texts.ts';
import { encodedHtml } from '../../support/encoded.ts';
import { HOSTILE_PAGES } from '../../support/hostile-html.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

/** The largest text of a message that is read. */
const LARGEST = 500 * 1024;
const HIDDEN = '</style>"><p class=ghost hidden>GHOST</p>';

describe.each(HOSTILE_PAGES)('%s', (_name, page) => {
  const read = (html: string): string => {
    const { own, quoted } = readTexts({ html: [encodedHtml(html)], text: [], form: 'markdown', links: true });
    return own + quoted;
  };

  test('take time by their length, and show nothing that is hidden', { timeout: 240_000 }, async () => {
    expect(await growth((size) => read(page(size)), LARGEST)).toBeLessThan(PROPORTIONAL);
    expect(read(page(LARGEST) + HIDDEN)).not.toContain('GHOST');
  });
});

describe('the thread that everybody shares', { timeout: 120_000 }, () => {
  let tenants: Tenants;
  let at: number;
  beforeAll(async () => {
    tenants = await twoTenants();
    at = tenants.clock.now;
  });
  afterAll(() => tenants[Symbol.asyncDispose]());

  const put = (html: string, header = 'Content-Type: text/html'): Promise<string> => {
    const account = rowId('mailbox', tenants.a.main.mailboxId) ?? 0;
    const text = `From: x@y.example\nTo: me@alpha-main.test\nSubject: s\n${header}\n\n${html}\n`;
    return putMail(tenants.world.store, { account, receivedAt: (at += 1000) }, text);
  };
  /**
   * ms that a call takes of this thread's processor, once what is done only once is done; the least of some calls, or the
   * first that takes less than `enough`: one of them may have to clean up memory after what others left.
   */
  const costOf = async (name: string, args: object, enough = 0): Promise<number> => {
    const call = (): Promise<unknown> => tenants.do(name, { mailbox: tenants.a.main.mailboxId, ...args });
    await call();
    let least = Infinity;
    for (let round = 0; round < 4 && least >= enough; round++) {
      const before = process.threadCpuUsage();
      const answer = await call();
      const { user, system } = process.threadCpuUsage(before);
      least = Math.min(least, (user + system) / 1000);
      expect(JSON.stringify(answer)).not.toContain('GHOST');
    }
    return least;
  };
  const expectLittle = async (name: string, args: object, most = MOST * (usual[name] ?? 0)): Promise<void> => {
    expect(await costOf(name, args, most), name).toBeLessThan(most);
  };
  /** Far above what each takes of this thread for its octets, far below what reading it here would take. */
  const MOST = 20;
  const CALLS = (messageId: string) =>
    [
      ['get_message', { messageId, format: 'html_sanitized' }],
      ['get_thread', { threadId: `t${messageId.slice(1)}` }],
      ['list_messages', { limit: 1 }],
    ] as const;
  /** Cost of the calls for a plain message of the same length. */
  let usual: Record<string, number>;
  const FLOOR_MS = 4;
  beforeAll(async () => {
    const messageId = await put('words of text\n'.repeat(LARGEST / 14));
    const costs: [string, number][] = [];
    for (const [name, args] of CALLS(messageId)) costs.push([name, Math.max(FLOOR_MS, await costOf(name, args))]);
    usual = Object.fromEntries(costs);
  });
  const WORST = HOSTILE_PAGES.filter(([name]) => /^(?:tags|one line|blanks|links|rules for|a long rule)/.test(name));

  test.each(WORST)('has little to do when somebody reads %s', async (_name, page) => {
    const messageId = await put(page(LARGEST) + HIDDEN);
    for (const [name, args] of CALLS(messageId)) await expectLittle(name, args);
  });

  test('has little to do for a list of many that are short', async () => {
    const [, page] = HOSTILE_PAGES.find(([name]) => name === 'rules for classes') ?? ['', () => ''];
    const short = page(2_000).replace('.a,'.repeat(1_000), '') + HIDDEN;
    expect(short.length).toBeLessThan(8_000);
    // The processor may be several times slower than a minute ago: the list of plain messages is measured just before.
    for (let i = 0; i < 50; i++) await put('words of text\n'.repeat(short.length / 14));
    const plain = await costOf('list_messages', { limit: 50 });
    for (let i = 0; i < 50; i++) await put(short);
    await expectLittle('list_messages', { limit: 50 }, Math.max(50 * FLOOR_MS, MOST * plain));
  });

  test('has little to do for many texts in one message, or for a file', async () => {
    const [, page] = HOSTILE_PAGES.find(([name]) => name === 'one line of many pieces') ?? ['', () => ''];
    const part = (header: string): string => `--b\nContent-Type: text/html${header}\n\n${page(LARGEST)}${HIDDEN}\n`;
    const header = 'Content-Type: multipart/mixed; boundary=b';
    const many = await put(`${part('').repeat(12)}--b--`, header);
    await expectLittle('get_message', { messageId: many });
    const file = await put(`--b\n\nHello\n${part('\nContent-Disposition: attachment')}--b--`, header);
    await expectLittle('get_attachment', { attachmentId: `${file}-2` }, MOST * (usual['get_message'] ?? 0));
  });
});
