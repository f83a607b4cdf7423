import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about retention and legal holds. */
export const retention = {
  'retention.saved': 'Aufbewahrung gespeichert.',
  'retention.ruled': 'Ordnerregel gespeichert.',
  'retention.unruled': 'Ordnerregel entfernt.',
  'retention.held': 'Löschsperre für das Postfach gesetzt.',
  'retention.lifted': 'Löschsperre aufgehoben.',
  'retention.about': 'Wann E-Mails endgültig gelöscht werden, und welche Postfächer eine Löschsperre haben.',

  'retention.schedule': 'Zeitplan',
  'retention.schedule-about':
    'Eine Nachricht, die ihren Ordner verlassen hat, lässt sich auf der Seite „Gelöscht“ ihres Postfachs wiederherstellen, bis sie endgültig gelöscht wird.',
  'retention.messages': 'Nachrichten',
  'retention.leave': 'Verlassen den Ordner',
  'retention.purged': 'Endgültig gelöscht',
  'retention.deleted': 'Von einem Menschen oder Programm gelöscht',
  'retention.at-once': 'Sofort',
  'retention.never': 'Nie',
  'retention.after': { one: 'Nach {count} Tag', other: 'Nach {count} Tagen' },
  'retention.after-there': { one: 'Nach {count} Tag im Ordner', other: 'Nach {count} Tagen im Ordner' },
  'retention.in-trash': 'Im Papierkorb',
  'retention.in-junk': 'Im Ordner „Spam“',
  'retention.in-folder': 'In {folder}',
  'retention.remove-rule': 'Regel entfernen',

  'retention.periods': 'Aufbewahrungsfristen',
  'retention.save-periods': 'Fristen speichern',
  'retention.deleted-days': 'Tage, in denen sich gelöschte Nachrichten wiederherstellen lassen',
  'retention.deleted-hint': 'Bei einer kleineren Zahl werden ältere innerhalb von Minuten endgültig gelöscht.',
  'retention.trash-days': 'Tage im Papierkorb',
  'retention.junk-days': 'Tage im Ordner „Spam“',
  'retention.empty-never': 'Leer: nie.',

  'retention.rules': 'Ordnerregeln',
  'retention.rules-about':
    'Eine Regel leert einen Ordner in jedem Postfach dieser Organisation. Eine zweite Regel für einen Ordner ersetzt die erste.',
  'retention.folder-hint': 'Vollständiger Name, zum Beispiel Lists/Alerts.',
  'retention.folder-days': 'Tage im Ordner',
  'retention.save-rule': 'Regel speichern',
  'retention.bad-days': 'Geben Sie eine Zahl von Tagen zwischen 1 und 36.500 ein.',

  'hold.title': 'Löschsperren',
  'hold.about':
    'E-Mails eines Postfachs mit Löschsperre werden nie endgültig gelöscht, auch nicht, wenn das Postfach gelöscht wird.',
  'hold.none': 'Keine Löschsperren',
  'hold.none-text': 'Hier stehen Postfächer mit Löschsperre, etwa wegen eines Rechtsstreits.',
  'hold.placed': 'Gesetzt',
  'hold.place': 'Löschsperre setzen',
  'hold.address': 'Adresse des Postfachs',
  'hold.reason-hint': 'Zum Beispiel das Aktenzeichen. Es wird im Auditprotokoll aufgezeichnet.',
  'hold.lift': 'Aufheben',
  'hold.lift-question': 'E-Mails von {name}, deren Frist vorbei ist, werden innerhalb von Minuten endgültig gelöscht.',
  'hold.lift-button': 'Löschsperre aufheben',
} satisfies Partial<PortalCatalog>;
