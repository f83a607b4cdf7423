import { readFileSync } from 'node:fs';
import { storedMessage } from '../../mail/store/arrival.ts';
import { blobPath } from '../../mail/store/blob.ts';
import { blobBytes } from '../../mail/store/content.ts';
import { veiled } from '../../mail/store/veil.ts';
import { query } from '../../mail/store/engine/types.ts';
import type { LinkMaker } from './attachment-link.ts';
import { inboundBody } from './payload.ts';

export type WebhookBody =
  | { kind: 'body'; body: Uint8Array }
  /** The message is no more. */
  | { kind: 'gone' }
  | { kind: 'unreadable' };

/**
 * The body of `email.inbound` for one message. `blobs` is the directory of blob files. Decoding and hashing a large
 * message takes long and its file is read at once: that is for the reader thread.
 */
export const inboundWebhookBody = query(
  'inbound-webhook-body',
  async (
    rx,
    input: { account: number; email: number; mailbox: string; blobs: string; links: LinkMaker },
  ): Promise<WebhookBody> => {
    const stored = await storedMessage.run(rx, input);
    if (stored === undefined) return { kind: 'gone' };
    const found = await blobBytes.run(rx, { blob: stored.blob, start: 0, length: stored.length });
    if (found === undefined) return { kind: 'gone' };
    const bytes = 'data' in found ? found.data : fileOf(input.blobs, found.file);
    if (bytes === undefined || bytes.byteLength < stored.length) return { kind: 'unreadable' };
    const shown = stored.veiledFrom === null ? bytes : veiled(bytes, 0, stored.veiledFrom);
    return { kind: 'body', body: inboundBody(input.mailbox, input.email, stored, shown, input.links) };
  },
);

function fileOf(directory: string, file: string): Uint8Array | undefined {
  try {
    return readFileSync(blobPath(directory, file));
  } catch {
    return undefined;
  }
}
