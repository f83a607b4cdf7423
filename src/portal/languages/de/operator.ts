import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about the pages of the operator: organizations, blocked networks and health. */
export const operator = {
  'ban.lifted': 'Netz entsperrt.',
  'ban.about': 'Netze, deren Verbindungen der Server auf allen Ports ablehnt. Jede wiederholte Sperre dauert länger.',
  'ban.none': 'Keine gesperrten Netze',
  'ban.none-text':
    'Ein Netz wird gesperrt, wenn es Passwörter oder Adressen errät, nach Schwachstellen sucht oder Verbindungen ungenutzt offen hält.',
  'ban.network': 'Netz',
  'ban.times': '{number}. Sperre innerhalb eines Monats',
  'ban.lift': 'Entsperren',
  'ban.lift-question': '{network} darf sich wieder verbinden, und die bisherigen Verstöße werden gelöscht.',

  'organizations.frozen':
    'Organisation gesperrt. Ihre Tokens, Anmeldungen und Anmeldungen an Postfächern werden abgelehnt.',
  'organizations.unfrozen': 'Organisation wieder aktiv.',
  'organizations.removed': 'Organisation gelöscht. Sie lässt sich 30 Tage lang wiederherstellen.',
  'organizations.purged': 'Organisation mit allen Daten gelöscht.',
  'organizations.restored': 'Organisation wiederhergestellt.',
  'organizations.about': 'Alle Organisationen dieses Servers, mit Größe und letzter Verwendung.',
  'organizations.since': '{id} seit {time}',
  'organizations.domains': { one: '{count} Domain', other: '{count} Domains' },
  'organizations.is-deleted': 'Gelöscht',
  'organizations.purged-after': 'Endgültig entfernt nach dem {time}',
  'organizations.is-frozen': 'Gesperrt',
  'organizations.operator': 'Betreiber',
  'organizations.claimed': 'Übernommen',
  'organizations.own': 'Im Besitz eines Agenten',
  'organizations.unclaimed': 'Nicht übernommen',
  'organizations.freeze': 'Sperren',
  'organizations.unfreeze': 'Entsperren',
  'organizations.freeze-question':
    'Tokens, Anmeldungen und Anmeldungen an Postfächern von {name} werden abgelehnt, bis Sie die Organisation entsperren. Sie empfängt weiterhin E-Mails.',
  'organizations.confirm': 'Geben Sie zur Bestätigung den Kurznamen {slug} ein',
  'organizations.remove-question':
    'Löscht {name} mit allen E-Mails, Domains und Tokens. Die Organisation lässt sich 30 Tage lang wiederherstellen. E-Mails für sie werden in dieser Zeit angenommen.',
  'organizations.purge-question':
    'Löscht {name} mit allen E-Mails, Domains und Tokens. Das lässt sich nicht rückgängig machen.',

  'health.ran': 'Alle Prüfungen wurden ausgeführt.',
  'health.about': 'Prüfungen des Servers, seines DNS, seiner Ports, Zertifikate, Festplatte und Sicherungen.',
  'health.none': 'Noch nicht geprüft',
  'health.none-text': 'Die Prüfungen laufen jede Stunde, zum ersten Mal zwei Minuten nach dem Start.',
  'health.all-passed': 'Keine Prüfung fehlgeschlagen',
  'health.some-failed': '{failed} von {all} Prüfungen fehlgeschlagen',
  'health.checked': '{result}, {time}. Die Prüfungen laufen jede Stunde.',
  'health.checks': 'Prüfungen',
  'health.check': 'Prüfung',
  'health.finding': 'Befund',
  'health.fix': 'Was zu tun ist',
  'health.no-fix': 'Nichts',
  'health.peer': 'Anderer Mailserver',
  'health.peer-hint':
    'Prüft, ob Port 25 dieses Servers von hier erreichbar ist, zum Beispiel gmail-smtp-in.l.google.com. Es wird keine E-Mail gesendet.',
  'health.check-now': 'Jetzt prüfen',
  'health-status.failed': 'Fehlgeschlagen',
  'health-status.warning': 'Warnung',
  'health-status.unknown': 'Unbekannt',
  'health-status.off': 'Aus',
  'health-status.ok': 'Bestanden',
} satisfies Partial<PortalCatalog>;
