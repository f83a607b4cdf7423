import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about suppressed addresses. */
export const suppressions = {
  'suppression.added': 'Dirección suprimida. Los programas ya no le envían correo.',
  'suppression.removed': 'Supresión quitada. Si el correo a la dirección se sigue devolviendo, se suprime de nuevo.',
  'suppression.about':
    'Direcciones a las que los programas de esta organización ya no envían. Las personas con un buzón todavía pueden.',
  'suppression.none': 'No hay direcciones suprimidas',
  'suppression.none-text':
    'Una dirección se suprime tras una devolución definitiva, una queja de spam o una solicitud para cancelar la suscripción.',
  'suppression.bounced': 'Devuelto',
  'suppression.complained': 'Queja de spam',
  'suppression.unsubscribed': 'Suscripción cancelada',
  'suppression.manual': 'Manual',
  'suppression.addresses': 'Direcciones suprimidas',
  'suppression.source': 'Origen',
  'suppression.consent-question':
    '{address} pidió no recibir más correo. Quite la dirección solo con el consentimiento de la persona.',
  'suppression.remove-question': 'Los programas pueden volver a enviar a {address}.',
  'suppression.add-title': 'Suprimir una dirección',
  'suppression.add': 'Suprimir dirección',
} satisfies Partial<PortalCatalog>;
