import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tripCanaries } from '../../../src/canaries/trip-commands.ts';
import { rowId } from '../../../src/core/ids.ts';
import { putMail } from '../../support/put-mail.ts';
import { CanaryWorld, type PlantedCanary } from '../../support/canary-world.ts';

let world: CanaryWorld;
let canary: PlantedCanary;
let token: number;
beforeEach(async () => {
  world = await CanaryWorld.open();
  canary = await world.plant();
  token = await world.mint();
});
afterEach(() => world[Symbol.asyncDispose]());

const IN = { mailbox: 'me@a.test' };
const FROZEN = { refusal: { error: 'action_not_allowed', mode: 'frozen' } };

const ofMessage = (over: object = {}) => ({ ...IN, messageId: canary.messageId, ...over });

async function threadId(): Promise<string> {
  const { message } = await world.do('get_message', ofMessage());
  return (message as { threadId: string }).threadId;
}

describe('a token that', () => {
  test('opens the message gets it, and nothing else from then on', async () => {
    const read = await world.asToken(token, 'get_message', ofMessage());
    expect(JSON.stringify(read)).toContain(canary.honeytoken);
    expect(await world.modeOf(token)).toBe('frozen');
    expect(await world.asToken(token, 'list_messages', IN)).toMatchObject(FROZEN);
    const [row, ...more] = await world.audited();
    expect(row).toMatchObject({ actor: `tok_${token}`, outcome: 'tripped' });
    expect(JSON.parse(row?.detail ?? '')).toMatchObject({
      door: 'rest get_message',
      what: 'opened',
      frozen: ['tok_1'],
    });
    expect(more).toEqual([]);
  });

  test.each([
    ['get_message', () => ofMessage({ maxChars: 1 })],
    ['get_message', () => ofMessage({ format: 'facts' })],
    ['get_message', () => ofMessage({ format: 'html_sanitized', offset: 5_000 })],
    ['get_message_source', () => ofMessage()],
    ['get_thread', async () => ({ ...IN, threadId: await threadId(), maxChars: 1000 })],
    ['reply_to_email', () => ofMessage({ text: 'Hello' })],
    ['forward_email', () => ofMessage({ to: 'you@x.example' })],
  ])('asks for what it says with %s is frozen, whatever is left of it', async (name, input) => {
    await world.asToken(token, name, await input());
    expect(await world.modeOf(token)).toBe('frozen');
  });

  test('lists, searches, files and trashes it is not', async () => {
    const search = (query: string) => world.asToken(token, 'search_messages', { ...IN, query });
    const found = [
      await world.asToken(token, 'list_messages', IN),
      await search('emergency'),
      await search('password'),
      await world.asToken(token, 'get_message', ofMessage({ format: 'headers' })),
    ];
    for (const one of found) {
      expect(JSON.stringify(one)).toContain(canary.messageId);
      expect(JSON.stringify(one)).not.toContain(canary.honeytoken);
      expect(JSON.stringify(one)).not.toContain(canary.address);
    }
    await world.asToken(token, 'update_message', { ...IN, messageIds: [canary.messageId], addLabels: ['x'] });
    await world.asToken(token, 'trash_message', { ...IN, messageIds: [canary.messageId] });
    expect(await world.modeOf(token)).toBe('normal');
    expect(await world.audited()).toEqual([]);
  });

  test('reads other mail is not, and nothing of the list distinguishes the two', async () => {
    const text = 'From: <me@a.test>\nTo: <me@a.test>\nSubject: Note: the plan\n\nhello\n';
    const account = await world.sending.account('me@a.test');
    const other = await putMail(world.world.store, { account, receivedAt: 1, bits: 1 }, text);
    await world.asToken(token, 'get_message', { ...IN, messageId: other });
    expect(await world.modeOf(token)).toBe('normal');
    const listed = await world.asToken(token, 'list_messages', IN);
    const { messages } = listed.kind === 'done' ? listed.result : {};
    const own = { id: '', threadId: '', receivedAt: '', sizeBytes: 0, untrusted: null };
    const [a, b] = (messages as object[]).map((one) => ({ ...one, ...own }));
    expect(a).toEqual(b);
  });

  test('is shown the secret where a person put it is frozen', async () => {
    const { honeytoken } = await world.plant({ kind: 'secret', story: 'payments' });
    const account = await world.sending.account('me@a.test');
    const text = `From: <me@a.test>\nSubject: keys\n\n${'Some words of a note. '.repeat(20)}\n${honeytoken}\n`;
    const messageId = await putMail(world.world.store, { account, receivedAt: 1 }, text);
    expect(await world.asToken(token, 'list_messages', IN)).toMatchObject({ kind: 'done' });
    expect(await world.modeOf(token)).toBe('normal');
    expect(JSON.stringify(await world.asToken(token, 'get_message', { ...IN, messageId }))).toContain(honeytoken);
    expect(await world.modeOf(token)).toBe('frozen');
    const [row] = await world.audited();
    expect(JSON.parse(row?.detail ?? '')).toMatchObject({ what: 'shown', door: 'rest get_message' });
  });
});

describe('who trips one', () => {
  test('takes the tokens that it made with it, and no other', async () => {
    const child = await world.mint(`tok_${token}`);
    const other = await world.mint();
    await world.asToken(token, 'get_message', ofMessage());
    expect(await Promise.all([token, child, other].map((id) => world.modeOf(id)))).toEqual([
      'frozen',
      'frozen',
      'normal',
    ]);
  });

  test('is a person: nothing happens', async () => {
    await world.asPerson('get_message', ofMessage());
    expect(await world.audited()).toEqual([]);
  });

  test('trips it once, however often it asked before it was frozen', async () => {
    const ask = () => world.asToken(token, 'get_message', ofMessage());
    await Promise.all([ask(), ask(), ask()]);
    expect(await world.modeOf(token)).toBe('frozen');
    expect(await world.audited()).toHaveLength(1);
  });

  test.each(['normal', 'reply_only', 'read_only'])(
    'and was let work again as %s trips it again, whether or not a person looked; owners are informed each time',
    async (mode) => {
      await world.addOwner('ada@owner.test');
      const trips = async (): Promise<number> => {
        await world.asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode });
        world.clock.now += 1000;
        await world.asToken(token, 'get_message', ofMessage());
        expect(await world.modeOf(token)).toBe('frozen');
        expect(await world.told()).toHaveLength((await world.audited()).length);
        return (await world.audited()).length;
      };
      expect(await trips()).toBe(1);
      expect(await trips()).toBe(2);
      await world.asPerson('settle_canary', { canaryId: canary.canaryId });
      expect(await trips()).toBe(3);
      const { canaries } = await world.do('list_canaries', IN);
      const at = new Date(world.clock.now).toISOString();
      expect(canaries).toMatchObject([{ trips: [{ by: `tok_${token}`, at, settledAt: null }] }]);
    },
  );

  test('was frozen with the password, and let work again, trips it for itself', async () => {
    const account = await world.sending.account('me@a.test');
    const trip = {
      canaries: [rowId('canary', canary.canaryId) ?? 0],
      protocol: 'imap',
      what: 'opened',
      about: [],
    } as const;
    const byPassword = () => world.world.store.write(tripCanaries, { ...trip, credential: `mbx_${account}` });
    expect(await byPassword()).toEqual({ tripped: 1 });
    expect(await world.modeOf(token)).toBe('frozen');
    await world.asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode: 'normal' });
    // The password stays frozen until a person has reviewed the trip.
    expect(await byPassword()).toEqual({ tripped: 0 });
    expect(await world.modeOf(token)).toBe('normal');
    await world.asToken(token, 'get_message', ofMessage());
    expect(await world.modeOf(token)).toBe('frozen');
  });

  test('trips all that it opens at once, and the log counts them', async () => {
    await world.plant({ story: 'recovery' });
    const { messages } = await world.do('list_messages', IN);
    expect(messages).toHaveLength(2);
    await Promise.all(
      (messages as { id: string }[]).map(({ id }) => world.asToken(token, 'get_message', { ...IN, messageId: id })),
    );
    expect(await world.audited()).toHaveLength(2);
  });
});

describe('tokens', () => {
  test('neither plant, list, settle nor remove one, nor read of them in the audit log', async () => {
    const { canaryId } = canary;
    for (const [name, input] of [
      ['plant_canary', { ...IN, label: 'x' }],
      ['list_canaries', IN],
      ['settle_canary', { canaryId }],
      ['remove_canary', { canaryId }],
    ] as const) {
      expect(await world.asToken(token, name, input), name).toMatchObject({ refusal: { error: 'action_not_allowed' } });
    }
    const other = await world.mint();
    await world.asToken(other, 'get_message', ofMessage());
    const asToken = JSON.stringify(await world.asToken(token, 'list_audit_events'));
    const asPerson = JSON.stringify(await world.asPerson('list_audit_events'));
    expect(asToken).not.toContain('canary');
    expect(asPerson).toContain('trip_canary');
    expect(asPerson).not.toContain(canary.honeytoken);
  });
});
