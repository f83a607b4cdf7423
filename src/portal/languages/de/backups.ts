import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about backups and the log of the server. */
export const backups = {
  'backup.started': 'Die Sicherung hat begonnen. Laden Sie diese Seite neu, um das Ergebnis zu sehen.',
  'backup.verifying-started':
    'Die Überprüfung hat begonnen: Sie stellt den neuesten Snapshot wieder her und vergleicht jede Nachricht.',
  'backup.about': 'Kopien aller E-Mails, Einstellungen und Schlüssel, die im laufenden Betrieb entstehen.',
  'backup.no-target': 'Kein Ziel eingestellt',
  'backup.no-target-text':
    'Ohne Sicherungen gehen bei einem Ausfall der Festplatte alle E-Mails verloren. Setzen Sie {target} auf ein Verzeichnis einer anderen Festplatte oder auf {bucket}, setzen Sie {passphrase} oder {recipient}, und starten Sie den Server neu.',

  'backup.state': 'Status',
  'backup.damaged': 'Beschädigt',
  'backup.backing-up': 'Wird gesichert',
  'backup.verifying': 'Wird überprüft',
  'backup.missing': 'Fehlt',
  'backup.old': 'Veraltet',
  'backup.good': 'Gut',
  'backup.failing': 'Fehlerhaft',
  'backup.last-good': 'Letzte gute Sicherung',
  'backup.last-verification': 'Letzte Überprüfung',
  'backup.none-yet': 'Keine',
  'backup.target': 'Ziel',
  'backup.schedule': 'Zeitplan',
  'backup.no-schedule': 'Keiner',
  'backup.every': 'Alle {time}',
  'backup.encryption': 'Verschlüsselung',
  'backup.without-keys': 'Keine: Die Schlüssel sind nicht in den Sicherungen',
  'backup.encrypted': 'Verschlüsselt',
  'backup.for-recipients': 'Für Empfänger: Dieser Server kann seine Sicherungen nicht lesen',
  'backup.problem': 'Problem',
  'backup.whole': '{time}: vollständig, {messages} Nachrichten verglichen',
  'backup.not-whole': '{time}: {problem}',
  'backup.is-damaged': 'beschädigt',

  'backup.next': 'Als Nächstes:',
  'backup-step.damaged':
    'Setzen Sie ein neues MAILSTEAD_BACKUP_TARGET, sichern und überprüfen Sie, und prüfen Sie den Speicher des bisherigen.',
  'backup-step.problem': 'Beheben Sie das Problem, und sichern Sie dann sofort.',
  'backup-step.old': 'Sichern Sie jetzt.',
  'backup-step.unencrypted':
    'Setzen Sie MAILSTEAD_BACKUP_PASSPHRASE_FILE oder MAILSTEAD_BACKUP_RECIPIENT und ein neues Ziel, oder bewahren Sie eine Kopie von secret.key anderswo auf.',
  'backup-step.unscheduled': 'Setzen Sie MAILSTEAD_BACKUP_EVERY, zum Beispiel auf 1h.',
  'backup-step.unverified':
    'Überprüfen Sie die Sicherungen einmal pro Woche, am besten von einem anderen Rechner: mailstead backup verify TARGET.',
  'backup.now': 'Jetzt sichern',
  'backup.verify': 'Neueste überprüfen',

  'snapshot.title': 'Snapshots',
  'snapshot.none': 'Keine Snapshots',
  'snapshot.none-text': 'Eine Sicherung fügt einen hinzu, sobald sie vollständig ist.',
  'snapshot.name': 'Snapshot',
  'snapshot.keys': 'Schlüssel',
  'snapshot.included': 'Enthalten',
  'snapshot.not-included': 'Nicht enthalten',

  'server-log.about':
    'Die neuesten Zeilen des Protokolls dieses Servers, die neueste zuerst. Geheimnisse und Texte von Nachrichten werden nie protokolliert.',
  'server-log.level': 'Mindeststufe',
  'server-log.contains': 'Enthält',
  'server-log.pause': 'Anhalten',
  'server-log.lines': 'Zeilen',
  'server-log.none': 'Keine Zeilen',
  'server-log.none-text': 'Keine Zeile des Protokolls seit dem Start des Servers passt.',
} satisfies Partial<PortalCatalog>;
