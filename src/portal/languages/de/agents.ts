import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about agents: their modes, the switch for all of them, undo and the daily digest. */
export const agents = {
  'agent.stopped':
    'Alle Agenten sind angehalten. Ihre E-Mails in der Warteschlange werden zurückgehalten: Prüfen Sie sie dort.',
  'agent.released':
    'E-Mails, die beim Anhalten der Agenten zurückgehalten wurden, sind freigegeben, in ihrer ursprünglichen Reihenfolge.',
  'agent.started': 'Die Agenten sind wieder aktiv, jeder in seinem Modus. Zurückgehaltene E-Mails bleiben es.',
  'agent.set': 'Modus geändert. Er gilt sofort.',
  'agent.about': 'Verwendete Tokens, mit ihrem Modus und der Zahl der in 24 Stunden gelesenen und gesendeten E-Mails.',
  'agent.none': 'Keine Agenten',
  'agent.none-text': 'Erstellen Sie auf der Seite „Tokens“ ein Token für jeden Agenten.',
  'agent.mode': 'Modus',
  'agent.read': 'Gelesen',
  'agent.sent': 'Gesendet',
  'agent.held': '{count} zurückgehalten',
  'agent.set-button': 'Festlegen',
  'agent-mode.normal': 'Normal',
  'agent-mode.reply_only': 'Nur Antworten',
  'agent-mode.draft_only': 'Nur Entwürfe',
  'agent-mode.read_only': 'Nur lesen',
  'agent-mode.frozen': 'Gesperrt',

  'agent.stop': 'Alle Agenten anhalten',
  'agent.stop-question':
    'Alle Tokens dieser Organisation werden sofort abgelehnt, und E-Mails von Agenten in der Warteschlange werden zurückgehalten.',
  'agent.all-stopped': 'Alle Agenten sind angehalten',
  'agent.stopped-since': '{stopped} (seit {time}).',
  'agent.start': 'Agenten starten',
  'agent.release': 'Zurückgehaltene E-Mails freigeben',
  'agent.release-question':
    'Sendet alle E-Mails, die beim Anhalten der Agenten zurückgehalten wurden. Prüfen Sie sie zuerst in der Warteschlange.',
  'agent.release-button': 'Alle freigeben',

  'digest.turned-on': 'Tägliche Zusammenfassung eingeschaltet.',
  'digest.turned-off': 'Tägliche Zusammenfassung ausgeschaltet.',
  'digest.title': 'Tägliche Zusammenfassung',
  'digest.about':
    'Nach einem Tag, an dem Agenten aktiv waren, erhalten Inhaber am Morgen eine E-Mail. Antworten Sie mit {stop}, um sofort alle Agenten anzuhalten.',
  'digest.off': 'Sie ist ausgeschaltet, deshalb erhalten Sie auch den letzten Hash-Wert des Auditprotokolls nicht.',
  'digest.unproven': '{state}: Ihre Adresse ist nicht bestätigt.',
  'digest.not-sent': 'Wird noch nicht gesendet',
  'digest.turn-on': 'Einschalten',
  'digest.turn-off': 'Ausschalten',

  'undo.title': 'Rückgängig machen',
  'undo.about':
    'Stellt Nachrichten wieder her, die ein Token verschoben, markiert, mit Labels versehen oder gelöscht hat, und setzt Regeln, Weiterleitungen, Webhooks, Aliasse und Vorlagen zurück, die es festgelegt hat. Widerruft API-Schlüssel, App-Passwörter und Tokens, die es erstellt hat. Spätere Änderungen durch andere bleiben, ebenso ein Alias, der E-Mails empfangen hat. Nicht rückgängig gemacht werden gesendete E-Mails, angelegte Postfächer, geänderte Passwörter von Postfächern und Einladungen. Prüfen Sie diese selbst.',
  'undo.form': 'Änderungen eines Tokens rückgängig machen',
  'undo.button': 'Rückgängig machen',
  'undo.revoked': '{name} (widerrufen)',
  'undo.period': 'Zeitraum',
  'undo-since.hour': 'in der letzten Stunde',
  'undo-since.day': 'in den letzten 24 Stunden',
  'undo-since.week': 'in der letzten Woche',
  'undo-since.month': 'in den letzten 30 Tagen',
  'undo.undone': 'Rückgängig gemacht:',
  'undo.sums': '{messages}, {rules}.',
  'undo.messages': { one: '{count} Nachricht', other: '{count} Nachrichten' },
  'undo.rules': { one: '{count} Regel', other: '{count} Regeln' },
  'undo.ended': {
    one: '{count} Schlüssel, Passwort oder Token, das es erstellt hatte, wurde widerrufen.',
    other: '{count} Schlüssel, Passwörter und Tokens, die es erstellt hatte, wurden widerrufen.',
  },
  'undo.kept': {
    one: '{count} Änderung wurde nicht rückgängig gemacht: Andere haben das Geänderte seither geändert, oder den früheren Stand gibt es nicht mehr.',
    other:
      '{count} Änderungen wurden nicht rückgängig gemacht: Andere haben das Geänderte seither geändert, oder den früheren Stand gibt es nicht mehr.',
  },
  'undo.more': 'Es sind noch nicht alle Änderungen rückgängig gemacht. Wiederholen Sie den Vorgang.',
} satisfies Partial<PortalCatalog>;
