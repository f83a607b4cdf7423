import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about canaries. */
export const canaries = {
  'canary.planted': 'Señuelo creado.',
  'canary.settled': 'Señuelo reactivado. Los tokens que bloqueó siguen bloqueados: actívelos en la página «Agentes».',
  'canary.removed': 'Señuelo y su mensaje eliminados.',
  'canary.about':
    'Un mensaje, un secreto o una dirección que ningún agente honrado usa. Un agente que lo abre, lo envía o le escribe fue manipulado: se bloquea de inmediato y se avisa a los propietarios.',
  'canary.none': 'No hay señuelos',
  'canary.none-text': 'Los agentes no pueden ver qué mensajes son señuelos, ni que existe alguno.',
  'canary.place': 'Colóquelo donde solo miraría un intruso, debajo de las primeras líneas de un mensaje.',
  'canary.triggered': 'Activado',
  'canary.no-message': 'Ninguno',
  'canary.in-mailbox': 'En el buzón',
  'canary.remove-question': 'Elimina su mensaje, su dirección y la lista de accesos.',
  'canary.re-arm': 'Reactivar',

  'canary.accesses': 'Accesos',
  'canary.protocol': 'Protocolo',
  'canary-act.opened': 'abrió su mensaje',
  'canary-act.shown': 'leyó su secreto',
  'canary-act.sent': 'intentó enviarlo, o escribir a su dirección',
  'canary-act.written-to': 'escribió a su dirección',

  'canary.name-hint': 'Solo para usted y las alertas. No mencione que es un señuelo.',
  'canary.type': 'Tipo',
  'canary-type.message': 'Un mensaje en este buzón, con un secreto y una dirección',
  'canary-type.secret': 'Solo un secreto, para colocarlo en otro lugar',
  'canary-type.address': 'Solo una dirección, para colocarla en otro lugar',
  'canary.pretext': 'Pretexto',
  'canary-pretext.console': 'acceso a una consola de administración',
  'canary-pretext.payments': 'una clave de una cuenta de pagos',
  'canary-pretext.recovery': 'la recuperación de una copia de seguridad',
  'canary.create-title': 'Crear un señuelo',
  'canary.create': 'Crear señuelo',
} satisfies Partial<PortalCatalog>;
