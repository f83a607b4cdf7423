import { describe, expect, test } from 'vitest';
import { bodyLists } from '../../../../mail/jmap/email/body-lists.ts';
import { bodyTree, flatParts } from '../../../../mail/jmap/email/body-part.ts';
import { indexMessage } from '../../../../mail/message/indexer.ts';
import { corpus } from '../../../support/corpus.ts';
import { getOne, keep } from '../../../support/jmap-kept.ts';
import { jmapWorld } from '../../../support/jmap-world.ts';

const ALL = [
  'id blobId threadId mailboxIds keywords size receivedAt messageId inReplyTo references sender from to cc bcc replyTo',
  'subject sentAt headers hasAttachment preview bodyStructure bodyValues textBody htmlBody attachments',
  'header:Subject:asText:all header:X-Anything:asAddresses header:Received:all',
]
  .join(' ')
  .split(' ');

describe('messages of every kind', () => {
  test('each is answered with everything, and its bodies have each leaf', async () => {
    await using world = await jmapWorld();
    for (const { name, bytes } of corpus()) {
      const id = await keep(world, bytes);
      const found = await getOne(world, id, {
        properties: ALL,
        bodyProperties: ['partId', 'type', 'size', 'headers', 'header:Content-Type'],
        fetchAllBodyValues: true,
      });
      expect(Object.keys(found).sort(), name).toEqual([...ALL].sort());
      const leaves = flatParts(bodyTree(indexMessage(bytes))).filter(({ subParts }) => subParts === null);
      const listed = new Set(
        Object.values(bodyLists(bodyTree(indexMessage(bytes))))
          .flat()
          .map(({ part }) => part.path),
      );
      expect(listed, name).toEqual(new Set(leaves.map(({ part }) => part.path)));
      const texts = leaves.filter(({ part }) => part.type === 'text').map(({ part }) => part.path);
      expect(Object.keys(found['bodyValues'] as object).sort(), name).toEqual(texts.sort());
      expect(JSON.stringify(found).isWellFormed(), name).toBe(true);
      expect(JSON.stringify(found), name).not.toContain('\\ud');
    }
  });
});
