import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about forwards. */
export const forwarding = {
  'forwarding.saved':
    'Reenvío guardado. La dirección del remitente no cambia, por lo que un destino que aplica SPF puede rechazar parte del correo.',
  'forwarding.removed': 'Reenvío eliminado.',
  'forwarding.policy-changed': 'Política cambiada.',
  'forwarding.about': 'Direcciones cuyo correo se reenvía a otra dirección.',
  'forwarding.none': 'No hay reenvíos',
  'forwarding.none-text': 'Una dirección reenviada necesita un dominio, pero no un buzón.',
  'forwarding.forwards': 'Reenvíos',
  'forwarding.copy': 'Copia local',
  'forwarding.pending': 'Pendiente',
  'forwarding.no-mailbox': 'Sin buzón',
  'forwarding.kept': 'Se conserva',
  'forwarding.no-copy': 'Ninguna',
  'forwarding.remove-question': 'El correo de {source} ya no se reenvía a {destination}.',
  'forwarding.add-title': 'Reenviar una dirección',
  'forwarding.add': 'Crear reenvío',
  'forwarding.keep': 'Conservar una copia en el buzón local, si lo hay',
  'forwarding.confirmation': 'Confirmación del destino',
  'forwarding.confirmed': 'Los destinos externos deben confirmar por correo antes de que se les reenvíen mensajes.',
  'forwarding.unconfirmed': 'Los reenvíos nuevos se activan de inmediato, sin confirmación del destino.',
  'forwarding.confirm': 'Exigir confirmación',
  'forwarding.confirm-off': 'No exigir confirmación',
} satisfies Partial<PortalCatalog>;
