import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about agents: their modes, the switch for all of them, undo and the daily digest. */
export const agents = {
  'agent.stopped': 'Todos los agentes están detenidos. Su correo en cola queda retenido: revíselo en la cola.',
  'agent.released': 'El correo retenido al detener los agentes se ha liberado, en su orden original.',
  'agent.started': 'Los agentes están activos de nuevo, cada uno en su propio modo. El correo retenido sigue retenido.',
  'agent.set': 'Modo cambiado. Se aplica de inmediato.',
  'agent.about': 'Tokens en uso, con su modo y el correo leído y enviado en 24 horas.',
  'agent.none': 'No hay agentes',
  'agent.none-text': 'Cree un token para cada agente en la página «Tokens».',
  'agent.mode': 'Modo',
  'agent.read': 'Leídos',
  'agent.sent': 'Enviados',
  'agent.held': '{count} retenidos',
  'agent.set-button': 'Aplicar',
  'agent-mode.normal': 'Normal',
  'agent-mode.reply_only': 'Solo respuestas',
  'agent-mode.draft_only': 'Solo borradores',
  'agent-mode.read_only': 'Solo lectura',
  'agent-mode.frozen': 'Bloqueado',

  'agent.stop': 'Detener todos los agentes',
  'agent.stop-question':
    'Todos los tokens de esta organización se rechazan de inmediato, y el correo en cola de los agentes queda retenido.',
  'agent.all-stopped': 'Todos los agentes están detenidos',
  'agent.stopped-since': '{stopped} desde {time}.',
  'agent.start': 'Iniciar los agentes',
  'agent.release': 'Liberar el correo retenido',
  'agent.release-question': 'Envía todo el correo que se retuvo al detener los agentes. Revíselo antes en la cola.',
  'agent.release-button': 'Liberar todo',

  'digest.turned-on': 'Resumen diario activado.',
  'digest.turned-off': 'Resumen diario desactivado.',
  'digest.title': 'Resumen diario',
  'digest.about':
    'Los propietarios reciben un correo cada mañana después de un día con actividad de agentes. Responda {stop} para detener todos los agentes de inmediato.',
  'digest.off': 'Está desactivado, así que tampoco recibe el último hash del registro de auditoría.',
  'digest.unproven': '{state}: su dirección no está verificada.',
  'digest.not-sent': 'Todavía no se envía',
  'digest.turn-on': 'Activar',
  'digest.turn-off': 'Desactivar',

  'undo.title': 'Deshacer',
  'undo.about':
    'Restaura los mensajes que un token movió, marcó, etiquetó o eliminó, y las reglas, reenvíos, webhooks, alias y plantillas que cambió. Revoca las claves de API, contraseñas de aplicación y tokens que creó. Los cambios posteriores de otros se conservan, igual que un alias que haya recibido correo. No se deshacen el correo enviado, los buzones creados, las contraseñas de buzones cambiadas ni las invitaciones. Compruébelos usted.',
  'undo.form': 'Deshacer los cambios de un token',
  'undo.button': 'Deshacer',
  'undo.revoked': '{name} (revocado)',
  'undo.period': 'Período',
  'undo-since.hour': 'en la última hora',
  'undo-since.day': 'en las últimas 24 horas',
  'undo-since.week': 'en la última semana',
  'undo-since.month': 'en los últimos 30 días',
  'undo.undone': 'Deshecho:',
  'undo.sums': '{messages}, {rules}.',
  'undo.messages': { one: '{count} mensaje', other: '{count} mensajes' },
  'undo.rules': { one: '{count} regla', other: '{count} reglas' },
  'undo.ended': {
    one: 'Se revocó {count} clave, contraseña o token que había creado.',
    other: 'Se revocaron {count} claves, contraseñas y tokens que había creado.',
  },
  'undo.kept': {
    one: '{count} cambio no se deshizo: otros lo cambiaron después, o el estado anterior ya no existe.',
    other: '{count} cambios no se deshicieron: otros los cambiaron después, o el estado anterior ya no existe.',
  },
  'undo.more': 'Quedan más cambios. Deshaga de nuevo.',
} satisfies Partial<PortalCatalog>;
