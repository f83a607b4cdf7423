import type { EmailRow } from '../../store/email-rows.ts';
import { veiled } from '../../store/veil.ts';
import { blobId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import type { MessageSource } from './message-source.ts';

/**
 * A message of the store, as a program or a person is shown it. What was not looked up of it is empty.
 */
export function storedSource(desk: Pick<JmapDesk, 'store'>, row: EmailRow, isPerson: boolean): MessageSource {
  const from = isPerson ? null : row.veiledFrom;
  const length = row.size - row.trace.length;
  return {
    trace: row.trace,
    headerLength: row.listing?.headerLength ?? 0,
    envelope: row.listing?.envelope ?? '',
    bodyStructure: row.structure?.bodyStructure ?? '',
    parts: row.structure?.parts ?? '[]',
    preview: row.listing?.preview ?? '',
    hasAttachment: row.hasAttachment,
    async read(start, octets) {
      const stored = await desk.store.blob(row.blob, start, Math.min(octets, length - start));
      return from === null ? stored : veiled(stored, start, from);
    },
    partBlobId: (path) => blobId({ kind: 'part', email: row.id, path }),
  };
}
