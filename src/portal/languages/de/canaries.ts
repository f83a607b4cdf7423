import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about canaries. */
export const canaries = {
  'canary.planted': 'Canary angelegt.',
  'canary.settled':
    'Canary wieder aktiviert. Tokens, die er gesperrt hat, bleiben gesperrt: Aktivieren Sie sie auf der Seite „Agenten“.',
  'canary.removed': 'Canary und seine Nachricht gelöscht.',
  'canary.about':
    'Eine Nachricht, ein Geheimnis oder eine Adresse, die kein ehrlicher Agent verwendet. Ein Agent, der sie öffnet, sendet oder an sie schreibt, wurde manipuliert: Er wird sofort gesperrt, und die Inhaber werden benachrichtigt.',
  'canary.none': 'Keine Canarys',
  'canary.none-text': 'Agenten können weder sehen, welche Nachrichten Canarys sind, noch, dass es welche gibt.',
  'canary.place': 'Legen Sie es dort ab, wo nur ein Eindringling sucht, unterhalb der ersten Zeilen einer Nachricht.',
  'canary.triggered': 'Ausgelöst',
  'canary.no-message': 'Keine',
  'canary.in-mailbox': 'Im Postfach',
  'canary.remove-question': 'Löscht seine Nachricht, seine Adresse und die Liste der Zugriffe.',
  'canary.re-arm': 'Wieder aktivieren',

  'canary.accesses': 'Zugriffe',
  'canary.protocol': 'Protokoll',
  'canary-act.opened': 'hat die Nachricht geöffnet',
  'canary-act.shown': 'hat das Geheimnis gelesen',
  'canary-act.sent': 'hat versucht, das Geheimnis zu senden oder an die Adresse zu schreiben',
  'canary-act.written-to': 'hat an die Adresse geschrieben',

  'canary.name-hint': 'Nur für Sie und für Warnungen. Erwähnen Sie nicht, dass es ein Canary ist.',
  'canary.type': 'Art',
  'canary-type.message': 'Eine Nachricht in diesem Postfach, mit einem Geheimnis und einer Adresse',
  'canary-type.secret': 'Nur ein Geheimnis, das Sie anderswo ablegen',
  'canary-type.address': 'Nur eine Adresse, die Sie anderswo ablegen',
  'canary.pretext': 'Vorwand',
  'canary-pretext.console': 'Zugang zu einer Verwaltungskonsole',
  'canary-pretext.payments': 'ein Schlüssel eines Zahlungskontos',
  'canary-pretext.recovery': 'die Wiederherstellung einer Sicherung',
  'canary.create-title': 'Canary anlegen',
  'canary.create': 'Canary anlegen',
} satisfies Partial<PortalCatalog>;
