import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about policies of agents. */
export const policies = {
  'policy.made': 'Regel angelegt. Sie gilt erst, wenn Sie sie einem Postfach oder Token zuweisen.',
  'policy.changed': 'Regel geändert. Sie gilt ab der nächsten Nachricht.',
  'policy.attached': 'Regel zugewiesen.',
  'policy.removed': 'Regel gelöscht.',
  'policy.about':
    'Regeln dafür, was Agenten allein dürfen, was eine Freigabe braucht und was gesperrt ist. Haben ein Token und sein Postfach beide eine Regel, gilt die strengere.',
  'policy.none': 'Keine Regeln',
  'policy.none-text':
    'Ohne Regel darf ein Agent an alle schreiben. E-Mails an neue Empfänger brauchen eine Freigabe, sobald der Agent nicht vertrauenswürdige Inhalte gelesen hat.',

  'policy.unattached': 'Nicht zugewiesen.',
  'policy.attached-to': 'Zugewiesen: {names}.',
  'policy.token': 'Token {name}',
  'policy.may': 'Erlaubt',
  'policy.waits': 'Braucht eine Freigabe',
  'policy.never': 'Gesperrt',
  'policy.remove-question': 'Löscht {name}.',
  'policy.change-question': 'Gilt ab der nächsten Nachricht, überall, wo diese Regel zugewiesen ist.',

  'policy.recipients': 'Erlaubte Empfänger',
  'policy-sends.preset': 'Wie in der Vorlage',
  'policy-sends.anybody': 'Alle',
  'policy-sends.replies': 'Nur Antworten',
  'policy-sends.allowed': 'Nur die Liste der erlaubten Adressen',
  'policy-sends.nobody': 'Niemand',
  'policy.allow-list': 'Erlaubte Adressen',
  'policy.allow-hint': 'Adressen oder Domains. E-Mails an sie brauchen nie wegen gelesener Inhalte eine Freigabe.',
  'policy.block-list': 'Gesperrte Adressen',
  'policy-waits.hold': 'E-Mails an neue Empfänger, nach dem Lesen nicht vertrauenswürdiger Inhalte',
  'policy-waits.rules': 'Weiterleitungen, Webhooks, erlaubte Absender, Tokens, Schlüssel und Passwörter',

  'policy.attach-title': 'Regel zuweisen',
  'policy.attach-about':
    'Das Passwort eines Postfachs mit Regel gilt als das eines Agenten. Wenn auch Sie das Postfach benutzen, erstellen Sie zuerst ein App-Passwort für sich.',
  'policy.attach': 'Regel zuweisen',
  'policy.target': 'Postfach oder Token',
  'policy.name': 'Regel',
  'policy.detach': 'Keine (Zuweisung aufheben)',

  'policy.create-title': 'Regel anlegen',
  'policy.create-another': 'Weitere Regel anlegen',
  'policy.create': 'Regel anlegen',
  'policy.preset': 'Vorlage',
  'policy-preset.internal': 'Intern, vertrauenswürdig: schreibt an alle, begrenzte Zahl neuer Empfänger',
  'policy-preset.support': 'Support: nur Antworten',
  'policy-preset.sign-up': 'Bot für Registrierungen: empfängt E-Mails und Codes, sendet nichts',
  'policy-preset.custom': 'Eigene Regel',
} satisfies Partial<PortalCatalog>;
