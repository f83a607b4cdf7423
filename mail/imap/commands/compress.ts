import { bad, no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** COMPRESS DEFLATE. RFC 4978. Only after login, so that strangers cannot hold memory for decompression. */
export const compress: ImapCommand<string> = {
  name: 'COMPRESS',
  states: LOGGED_IN,
  allowedUpdates: 'nothing',
  capabilities: [{ name: 'COMPRESS=DEFLATE', isOffered: ({ login }) => login !== undefined }],
  parse: (d) => d.sp().word(),

  run(session, mechanism) {
    if (mechanism !== 'DEFLATE') return bad('Unknown compression. Use COMPRESS DEFLATE');
    if (session.input.isCompressed) return no('COMPRESSIONACTIVE', 'DEFLATE is active already');
    return { ...ok('DEFLATE active'), next: 'compress' };
  },
};
