import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about members and the sign-in policy. */
export const members = {
  'member.invited': 'Einladung gesendet. Der Link darin läuft in 7 Tagen ab.',
  'member.removed': 'Mitglied entfernt.',
  'member.about': 'Mitglieder dieser Organisation und ihre Rollen.',
  'member.person': 'Person',
  'member.pending': 'Ausstehend',
  'member.unverified': 'Adresse unbestätigt',
  'member.change': 'Ändern',
  'member.role-of': 'Rolle von {address}.',
  'member.mailboxes-hint': 'Gilt nur für Mitglieder.',
  'member.remove-question':
    '{address} verliert den Zugriff auf diese Organisation. Passwörter, die diese Person kennt, bleiben gültig: Ändern Sie sie.',
  'member.invite-title': 'Eine Person einladen',
  'member.invite': 'Einladung senden',
  'member.invite-hint': 'Ein Mitglied hat Zugriff auf zugewiesene Postfächer, ein Administrator auf alles.',

  'sign-in-policy.saved': 'Anmelderichtlinie gespeichert.',
  'sign-in-policy.title': 'Anmelderichtlinie',
  'sign-in-policy.enrolled': {
    one: '{enrolled} von {count} Person hat einen zweiten Faktor.',
    other: '{enrolled} von {count} Personen haben einen zweiten Faktor.',
  },
  'sign-in-policy.required-for': 'Zweiter Faktor erforderlich für',
  'sign-in-policy.none': 'Niemanden',
  'sign-in-policy.owners': 'Inhaber',
  'sign-in-policy.admins': 'Inhaber und Administratoren',
  'sign-in-policy.everybody': 'Alle',
  'sign-in-policy.allowed': 'Erlaubt',
  'sign-in-policy.required': 'Erforderlich, außer für Inhaber',
  'sign-in-policy.hint':
    'Wer keinen zweiten Faktor hat, muss einen einrichten, um fortzufahren. Tokens sind nicht betroffen.',
} satisfies Partial<PortalCatalog>;
