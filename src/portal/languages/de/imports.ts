import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about imports of mail from other servers and from files, and exports. */
export const imports = {
  'import.started': 'Import gestartet.',
  'import.cancelled': 'Import abgebrochen. Importierte E-Mails bleiben.',
  'import.about':
    'E-Mails, die von einem anderen Server oder aus Dateien importiert wurden. Ein weiterer Import fügt nur neue E-Mails hinzu.',
  'import.none': 'Keine Importe',
  'import.none-text':
    'Rufen Sie ein Postfach eines anderen Servers ab, oder laden Sie eine mbox-, EML- oder ZIP-Datei hoch.',
  'import.reload': 'Laden Sie diese Seite neu, um den aktuellen Stand zu sehen.',

  'import.source': 'Quelle',
  'import.imported': 'Importiert',
  'import.known': 'Bekannt',
  'import.skipped': 'Übersprungen',
  'import.started-at': 'Beginn',
  'import.cancel': 'Abbrechen',
  'import.of': '{imported} von {total}',
  'import.progress': 'Fortschritt von {source}',
  'import.next-attempt': 'Nächster Versuch: {time}.',
  'import-state.waiting': 'Wartet auf die Datei',
  'import-state.running': 'Läuft',
  'import-state.done': 'Fertig',
  'import-state.failed': 'Fehlgeschlagen',
  'import-state.cancelled': 'Abgebrochen',
  'import-state.deferred': 'Aufgeschoben',

  'proof.title': 'Nachweis',
  'proof.incomplete': 'Nachweis: unvollständig, nicht gleich. Ordner des anderen Servers wurden nicht abgerufen.',
  'proof.is-equal': 'Nachweis: Beide Seiten sind gleich.',
  'proof.differs': 'Nachweis: Die Seiten unterscheiden sich.',
  'proof.omitted': {
    one: '{count} Ordner nicht abgerufen ({names})',
    other: '{count} Ordner nicht abgerufen ({names})',
  },
  'proof.more': '{number} weitere',
  'proof.folder-there': 'Ordner dort',
  'proof.folder-here': 'Ordner hier',
  'proof.there': 'Dort',
  'proof.here': 'Hier',
  'proof.equal': 'Gleich',
  'proof.different': 'Verschieden',
  'proof.changed-here': '{number} seither hier geändert',

  'import.pull-title': 'Von einem anderen Server abrufen',
  'import.pull': 'Abrufen',
  'import.mailbox-here': 'Postfach auf diesem Server',
  'import.server': 'IMAP-Server',
  'import.app-password': 'App-Passwort',
  'import.password-hint': 'Wird verschlüsselt gespeichert, bis der Import endet.',
  'import.upload-title': 'Eine Datei hochladen',
  'import.upload': 'Importieren',
  'import.file': 'Datei',
  'import.file-hint':
    'Eine mbox- oder EML-Datei oder eine ZIP-Datei mit solchen Dateien, einem Maildir oder Google Takeout. Ein Teil davon darf schon hier sein: Nichts wird doppelt hinzugefügt.',
  'import.folder': 'Importiert',
  'import.folder-hint':
    'Ordner einer ZIP-Datei werden darunter angelegt. Lassen Sie das Feld leer, um sie zu behalten, wie sie sind.',
  'import.stop': 'Anhalten',
  'import.terminal-title': 'Über ein Terminal',
  'import.create-url': 'URL zum Hochladen erstellen',
  'import.upload-panel': 'Hochladen',
  'import.upload-once':
    'Einen Tag gültig. Laden Sie die Datei hoch mit: curl -T DATEI "URL". Der Import beginnt, wenn sie ganz da ist.',

  'export.title': 'Ein Postfach exportieren',
  'export.button': 'Exportieren',
  'export.panel': 'Herunterladen',
  'export.once': 'Einen Tag gültig. Der Export dauert eine Weile: Bis er fertig ist, zeigt die URL, wie weit er ist.',
} satisfies Partial<PortalCatalog>;
