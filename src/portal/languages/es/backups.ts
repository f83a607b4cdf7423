import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about backups and the log of the server. */
export const backups = {
  'backup.started': 'La copia de seguridad ha empezado. Vuelva a cargar esta página para ver el resultado.',
  'backup.verifying-started':
    'La verificación ha empezado: restaura la instantánea más reciente y compara cada mensaje.',
  'backup.about': 'Copias de todo el correo, la configuración y las claves, hechas con el servidor en marcha.',
  'backup.no-target': 'No hay ningún destino configurado',
  'backup.no-target-text':
    'Sin copias de seguridad, un fallo del disco pierde todo el correo. Ponga en {target} un directorio de otro disco o {bucket}, configure {passphrase} o {recipient}, y reinicie el servidor.',

  'backup.state': 'Estado',
  'backup.damaged': 'Dañada',
  'backup.backing-up': 'Copia en curso',
  'backup.verifying': 'Verificación en curso',
  'backup.missing': 'Falta',
  'backup.old': 'Antigua',
  'backup.good': 'Correcta',
  'backup.failing': 'Con fallos',
  'backup.last-good': 'Última copia correcta',
  'backup.last-verification': 'Última verificación',
  'backup.none-yet': 'Ninguna',
  'backup.target': 'Destino',
  'backup.schedule': 'Programación',
  'backup.no-schedule': 'Ninguna',
  'backup.every': 'Cada {time}',
  'backup.encryption': 'Cifrado',
  'backup.without-keys': 'Ninguno: las claves no están en las copias',
  'backup.encrypted': 'Cifradas',
  'backup.for-recipients': 'Para destinatarios: este servidor no puede leer sus copias',
  'backup.problem': 'Problema',
  'backup.whole': '{time}: completa, {messages} mensajes comparados',
  'backup.not-whole': '{time}: {problem}',
  'backup.is-damaged': 'dañada',

  'backup.next': 'Siguiente:',
  'backup-step.damaged':
    'Configure un MAILSTEAD_BACKUP_TARGET nuevo, haga una copia, verifíquela y compruebe el almacenamiento de este.',
  'backup-step.problem': 'Corrija el problema y haga después una copia.',
  'backup-step.old': 'Haga una copia ahora.',
  'backup-step.unencrypted':
    'Configure MAILSTEAD_BACKUP_PASSPHRASE_FILE o MAILSTEAD_BACKUP_RECIPIENT y un destino nuevo, o guarde una copia de secret.key en otro lugar.',
  'backup-step.unscheduled': 'Configure MAILSTEAD_BACKUP_EVERY, por ejemplo 1h.',
  'backup-step.unverified': 'Verifique una vez por semana, mejor desde otro equipo: mailstead backup verify TARGET.',
  'backup.now': 'Hacer copia ahora',
  'backup.verify': 'Verificar la más reciente',

  'snapshot.title': 'Instantáneas',
  'snapshot.none': 'No hay instantáneas',
  'snapshot.none-text': 'Una copia añade una cuando está completa.',
  'snapshot.name': 'Instantánea',
  'snapshot.keys': 'Claves',
  'snapshot.included': 'Incluidas',
  'snapshot.not-included': 'No incluidas',

  'server-log.about':
    'Las líneas más recientes del registro de este servidor, primero la más nueva. Los secretos y el texto de los mensajes nunca se registran.',
  'server-log.level': 'Nivel mínimo',
  'server-log.contains': 'Contiene',
  'server-log.pause': 'Pausar',
  'server-log.lines': 'Líneas',
  'server-log.none': 'No hay líneas',
  'server-log.none-text': 'Ninguna línea del registro desde el inicio del servidor coincide.',
} satisfies Partial<PortalCatalog>;
