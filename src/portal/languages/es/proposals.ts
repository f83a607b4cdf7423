import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about proposals of agents. */
export const proposals = {
  'proposal.accepted': 'Propuesta aceptada y ejecutada.',
  'proposal.failed': 'Propuesta aceptada, pero falló. Vea la lista de abajo.',
  'proposal.refused': 'Propuesta rechazada. No se cambió nada.',
  'proposal.about':
    'Cambios solicitados por agentes con política que duran más que su sesión: reenvíos, webhooks, claves, contraseñas y su propia política. Solo surten efecto cuando usted los acepta.',
  'proposal.none': 'No hay propuestas pendientes',
  'proposal.none-text': 'Aquí aparecen los cambios que necesitan su decisión.',
  'proposal.once': 'Se muestra una sola vez. El agente no puede verlo.',
  'proposal.executed': 'Propuesta ejecutada',
  'proposal.secret': 'Secreto',
  'proposal.times': '{time}, caduca {end}',
  'proposal.accept': 'Aceptar',
  'proposal.accept-question': 'Ejecuta exactamente este cambio con los permisos del token del agente.',
  'proposal.decided': 'Propuestas decididas',
  'proposal-state.accepted': 'aceptada',
  'proposal-state.refused': 'rechazada',
  'proposal-state.replaced': 'reemplazada',
  'proposal-state.expired': 'caducada',
  'proposal-state.pending': 'pendiente',
  'proposal.by-progress': '{name}, en curso',
  'proposal.by-failed': '{name}, fallida: {outcome}',
} satisfies Partial<PortalCatalog>;
