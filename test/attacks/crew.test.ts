import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/core/caller.ts';
import { type Channel, CHANNELS } from './channels.ts';
import { Crew } from './crew.ts';
import type { Answer } from './obedient-agent.ts';

/** Has an agent take up what another put there, and write to a stranger; answers how that ended. */
async function passOn(crew: Crew, { take }: Channel, by: Caller, id: unknown): Promise<Answer> {
  return (await take(crew, by, String(id))) ?? crew.toStranger(by);
}

/** Has an agent take up what another put there, and write to a colleague; answers that message. */
async function passInside(crew: Crew, { take, carry }: Channel, by: Caller, id: string): Promise<string> {
  if (carry !== undefined) return carry(crew, by, id);
  await take(crew, by, id);
  return crew.inside(by);
}

describe('what an agent wrote that has read nobody', () => {
  let crew: Crew;
  beforeAll(async () => void (crew = await Crew.open()));
  afterAll(() => crew[Symbol.asyncDispose]());

  // Mail forwarded to an outsider waits, whoever wrote it.
  test.each(CHANNELS.filter(({ carry }) => carry === undefined))('holds nobody up: $name', async (channel) => {
    const id = await channel.put(crew, await crew.agent());
    expect(await passOn(crew, channel, await crew.agent(), id)).toMatchObject({ status: 'queued' });
  });
});

describe.each([
  ['at once', 0],
  ['25 hours later', 25],
  ['30 days later', 30 * 24],
])('what an agent wrote that a stranger has misled, taken up %s', (_when, hours) => {
  let crew: Crew;
  beforeAll(async () => void (crew = await Crew.open()));
  afterAll(() => crew[Symbol.asyncDispose]());

  test.each(CHANNELS)('reaches nobody by two agents: $name', async (channel) => {
    const id = await channel.put(crew, await crew.misled());
    crew.wait(hours);
    const passed = await passOn(crew, channel, await crew.agent(), id);
    expect(passed).toMatchObject({ status: 'pending_approval' });
  });

  test.each(CHANNELS)('reaches nobody by three: $name', async (channel) => {
    const id = await channel.put(crew, await crew.misled());
    crew.wait(hours);
    const second = await crew.agent();
    const note = await passInside(crew, channel, second, String(id));
    crew.wait(hours);
    const third = await crew.agent();
    await crew.call(third, 'get_message', { mailbox: crew.other.mailboxId, messageId: note });
    expect(await crew.toStranger(third)).toMatchObject({ status: 'pending_approval' });
  });
});

describe("a stranger's mail that an agent hands to a colleague unread", () => {
  let crew: Crew;
  beforeAll(async () => void (crew = await Crew.open()));
  afterAll(() => crew[Symbol.asyncDispose]());

  test.each(['by forwarding it', 'as a message', 'as a file', 'in a draft'])(
    'holds up who reads it: %s',
    async (how) => {
      const by = await crew.agent();
      const [mailbox, messageId, to] = [crew.shared.mailboxId, await crew.strangersMail(), [crew.other.address]];
      const attachments = [{ attachmentId: how === 'as a file' ? `${messageId}-1` : messageId }];
      if (how === 'by forwarding it') await crew.call(by, 'forward_email', { mailbox, messageId, to });
      else if (how === 'in a draft') {
        const written = { mailbox, to, subject: crew.word(), text: 'See the file', attachments };
        const { draft } = await crew.call(by, 'create_draft', written);
        const { id: draftId, revision } = draft as Record<string, string>;
        await crew.call(by, 'send_draft', { mailbox, draftId, revision });
      } else await crew.inside(by, { attachments });
      const reader = await crew.agent();
      await crew.call(reader, 'get_message', { mailbox: crew.other.mailboxId, messageId: await crew.newest() });
      expect(await crew.toStranger(reader)).toMatchObject({ status: 'pending_approval' });
    },
  );
});

describe('time', () => {
  let crew: Crew;
  beforeAll(async () => void (crew = await Crew.open()));
  afterAll(() => crew[Symbol.asyncDispose]());

  test.each([25, 30 * 24])('an agent that waits %d hours sends no draft of before by itself', async (hours) => {
    const by = await crew.misled();
    const mailbox = crew.shared.mailboxId;
    const written = { mailbox, to: [`${crew.word()}@loot.example`], subject: crew.word(), text: 'x' };
    const { id: draftId, revision } = (await crew.call(by, 'create_draft', written))['draft'] as Record<string, string>;
    crew.wait(hours);
    expect(await crew.call(by, 'send_draft', { mailbox, draftId, revision })).toMatchObject({
      status: 'pending_approval',
    });
    // Sending the tainted draft has tainted it again.
    expect(await crew.toStranger(by)).toMatchObject({ status: 'pending_approval' });
  });

  test('its helper is held up with it, and a limited token is of no use after an hour', async () => {
    const by = await crew.misled();
    const made = await crew.call(by, 'create_narrow_token', { mailbox: crew.shared.mailboxId, name: crew.word() });
    const helper = await crew.callerOf(String(made['secret']));
    expect(await crew.toStranger(helper)).toMatchObject({ status: 'pending_approval' });
    crew.wait(1);
    await expect(crew.callerOf(String(made['secret']))).rejects.toThrow('does not hold');
  });

  test('24 hours later it is held up still, 25 hours later it is not, and mail of before holds it up again', async () => {
    const by = await crew.misled();
    const messageId = await crew.strangersMail();
    crew.wait(23);
    expect(await crew.toStranger(by)).toMatchObject({ status: 'pending_approval' });
    crew.wait(2);
    expect(await crew.toStranger(by)).toMatchObject({ status: 'queued' });
    crew.wait(30 * 24);
    await crew.call(by, 'get_message', { mailbox: crew.shared.mailboxId, messageId });
    expect(await crew.toStranger(by)).toMatchObject({ status: 'pending_approval' });
  });
});
