import { closeSync, readFileSync } from 'node:fs';
import { storedMessage } from '../../mail/store/blob/stored-message.ts';
import { BlobUnavailable } from '../../mail/store/blob/blob-request.ts';
import { openBlobFile } from '../../mail/store/blob/open-blob-file.ts';
import { blobBytes } from '../../mail/store/blob/content.ts';
import { redacted } from '../../mail/agents/quarantine/redact.ts';
import { query } from '../../mail/store/engine/types.ts';
import type { AttachmentLinkContext } from './attachment-link.ts';
import { inboundBody } from './payload.ts';

export type WebhookBody =
  | { kind: 'body'; body: Uint8Array }
  /** The message was deleted. */
  | { kind: 'gone' }
  | { kind: 'unreadable' };

/**
 * The body of `email.inbound` for one message. `blobs`: directory of the blob files. Run it in the reader thread for large
 * messages: it decodes, hashes and reads the file synchronously.
 */
export const inboundWebhookBody = query(
  'inbound-webhook-body',
  async (
    rx,
    input: { account: number; email: number; mailbox: string; blobs: string; links: AttachmentLinkContext },
  ): Promise<WebhookBody> => {
    const stored = await storedMessage.run(rx, input);
    if (stored === undefined) return { kind: 'gone' };
    const found = await blobBytes.run(rx, { blob: stored.blob, start: 0, length: stored.length });
    if (found === undefined) return { kind: 'gone' };
    const bytes = 'data' in found ? found.data : fileOf(input.blobs, found.file);
    if (bytes === undefined || bytes.byteLength < stored.length) return { kind: 'unreadable' };
    const shown = stored.redactedFrom === null ? bytes : redacted(bytes, 0, stored.redactedFrom);
    return { kind: 'body', body: inboundBody(input.mailbox, input.email, stored, shown, input.links) };
  },
);

function fileOf(directory: string, file: string): Uint8Array | undefined {
  let opened: number | undefined;
  try {
    opened = openBlobFile(directory, file);
    return readFileSync(opened);
  } catch (error) {
    // The bucket does not answer: the event is repeated, not told of as unreadable.
    if (error instanceof BlobUnavailable) throw error;
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
