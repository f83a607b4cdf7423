import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about imports of mail from other servers and from files, and exports. */
export const imports = {
  'import.started': 'Importación iniciada.',
  'import.cancelled': 'Importación cancelada. El correo importado permanece.',
  'import.about':
    'Correo importado de otro servidor o de archivos. Repetir una importación añade solo el correo nuevo.',
  'import.none': 'No hay importaciones',
  'import.none-text': 'Descargue un buzón de otro servidor, o suba un archivo mbox, EML o zip.',
  'import.reload': 'Vuelva a cargar esta página para ver el estado actual.',

  'import.source': 'Origen',
  'import.imported': 'Importados',
  'import.known': 'Conocidos',
  'import.skipped': 'Omitidos',
  'import.started-at': 'Inicio',
  'import.cancel': 'Cancelar',
  'import.of': '{imported} de {total}',
  'import.progress': 'Progreso de {source}',
  'import.next-attempt': 'Próximo intento: {time}.',
  'import-state.waiting': 'A la espera del archivo',
  'import-state.running': 'En curso',
  'import-state.done': 'Terminada',
  'import-state.failed': 'Fallida',
  'import-state.cancelled': 'Cancelada',
  'import-state.deferred': 'Aplazada',

  'proof.title': 'Comprobación',
  'proof.incomplete': 'Comprobación: incompleta, no son iguales. Hay carpetas del otro servidor que no se descargaron.',
  'proof.is-equal': 'Comprobación: ambos lados son iguales.',
  'proof.differs': 'Comprobación: los lados son distintos.',
  'proof.omitted': {
    one: '{count} carpeta no descargada ({names})',
    other: '{count} carpetas no descargadas ({names})',
  },
  'proof.more': '{number} más',
  'proof.folder-there': 'Carpeta de origen',
  'proof.folder-here': 'Carpeta aquí',
  'proof.there': 'En el origen',
  'proof.here': 'Aquí',
  'proof.equal': 'Igual',
  'proof.different': 'Distinta',
  'proof.changed-here': '{number} cambiados aquí desde entonces',

  'import.pull-title': 'Descargar de otro servidor',
  'import.pull': 'Descargar',
  'import.mailbox-here': 'Buzón de este servidor',
  'import.server': 'Servidor IMAP',
  'import.app-password': 'Contraseña de aplicación',
  'import.password-hint': 'Se guarda cifrada hasta que termina la importación.',
  'import.upload-title': 'Subir un archivo',
  'import.upload': 'Importar',
  'import.file': 'Archivo',
  'import.file-hint':
    'Un archivo mbox o EML, o un zip con esos archivos, un Maildir o un Google Takeout. Una parte puede estar ya aquí: nada se añade dos veces.',
  'import.folder': 'Importado',
  'import.folder-hint':
    'Las carpetas de un archivo zip quedan dentro de ella. Déjela vacía para conservarlas como están.',
  'import.stop': 'Detener',
  'import.terminal-title': 'Desde un terminal',
  'import.create-url': 'Crear URL de subida',
  'import.upload-panel': 'Subida',
  'import.upload-once':
    'Válida durante un día. Suba el archivo con: curl -T ARCHIVO "URL". La importación empieza cuando termina la subida.',

  'export.title': 'Exportar un buzón',
  'export.button': 'Exportar',
  'export.panel': 'Descarga',
  'export.once': 'Válida durante un día. La exportación tarda un rato: hasta que termine, la URL indica cuánto lleva.',
} satisfies Partial<PortalCatalog>;
