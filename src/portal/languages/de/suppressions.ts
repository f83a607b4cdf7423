import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about suppressed addresses. */
export const suppressions = {
  'suppression.added': 'Adresse unterdrückt. Programme senden nicht mehr an sie.',
  'suppression.removed':
    'Unterdrückung aufgehoben. Ist die Adresse weiterhin unzustellbar, wird sie wieder unterdrückt.',
  'suppression.about':
    'Adressen, an die Programme dieser Organisation nicht mehr senden. Menschen mit einem Postfach können es weiterhin.',
  'suppression.none': 'Keine unterdrückten Adressen',
  'suppression.none-text':
    'Eine Adresse wird unterdrückt, wenn sie endgültig unzustellbar ist, nach einer Spam-Beschwerde oder nach dem Abbestellen.',
  'suppression.bounced': 'Unzustellbar',
  'suppression.complained': 'Spam-Beschwerde',
  'suppression.unsubscribed': 'Abbestellt',
  'suppression.manual': 'Manuell',
  'suppression.addresses': 'Unterdrückte Adressen',
  'suppression.source': 'Herkunft',
  'suppression.consent-question':
    '{address} möchte keine E-Mails mehr erhalten. Entfernen Sie die Adresse nur mit Einwilligung der Person.',
  'suppression.remove-question': 'Programme dürfen wieder an {address} senden.',
  'suppression.add-title': 'Eine Adresse unterdrücken',
  'suppression.add': 'Adresse unterdrücken',
} satisfies Partial<PortalCatalog>;
