import { describe, expect, it } from 'vitest';
import { defineTemplate, MessagingClient } from 'postreel/messaging';
import { renderText, variablesOf } from '../../src/messaging/shared/template-text.js';
import fc from '../support/property.js';

describe('the variables of a template', () => {
  it('are names, dotted paths and fallbacks', () => {
    expect(variablesOf('{{a}} {{ a.b }} {{c ?? "x y"}} {{d??\'\'}}').variables).toEqual([
      { path: 'a', fallback: undefined },
      { path: 'a.b', fallback: undefined },
      { path: 'c', fallback: 'x y' },
      { path: 'd', fallback: '' },
    ]);
  });

  it('are listed once, without a fallback if one occurrence has none', () => {
    expect(variablesOf('{{a ?? "x"}} {{a}} {{a ?? "y"}}').variables).toEqual([
      { path: 'a', fallback: undefined },
    ]);
  });

  it.each([
    '{{#if plan}}',
    '{{/if}}',
    '{{> footer}}',
    '{{!-- note --}}',
    '{{{html}}}',
    '{{name | upcase}}',
    '{{format date "short"}}',
    '{{a ?? b}}',
    '{{}}',
    '{% if plan %}',
  ])('do not include %s, which is reported and stays unchanged', (syntax) => {
    const text = `before ${syntax} after`;
    expect(variablesOf(text)).toEqual({ variables: [], notUnderstood: [syntax] });
    expect(renderText(text, { name: 'Ann', html: 'x', a: 1 })).toEqual({
      text,
      missing: [],
      notUnderstood: [syntax],
    });
  });
});

describe('a rendered template', () => {
  const data = {
    name: 'Ann',
    seats: 3,
    isPro: true,
    nothing: null,
    since: new Date('2026-01-02T03:04:05.000Z'),
    profile: { tier: 'gold' },
    'a.b': 'dotted',
    a: { b: 'nested' },
    code: { value: '1234', persistent: false },
  };

  it.each([
    ['Hi {{name}}!', 'Hi Ann!'],
    ['{{seats}} seats, {{isPro}}', '3 seats, true'],
    ['{{profile.tier}}', 'gold'],
    ['{{a.b}}', 'dotted'],
    ['{{code}}', '1234'],
    ['{{since}}', '2026-01-02T03:04:05.000Z'],
    ['{{nothing ?? "none"}}, {{missing ?? \'none\'}}', 'none, none'],
  ])('turns %j into %j', (template, text) => {
    expect(renderText(template, data)).toEqual({ text, missing: [], notUnderstood: [] });
  });

  it('lists missing variables, and renders them as empty text', () => {
    expect(renderText('{{gone}}-{{nothing}}-{{profile.gone}}-{{gone}}', data)).toEqual({
      text: '---',
      missing: ['gone', 'nothing', 'profile.gone'],
      notUnderstood: [],
    });
  });

  it('does not read inherited properties', () => {
    expect(renderText('{{constructor.name}}{{toString}}', {}).missing).toEqual([
      'constructor.name',
      'toString',
    ]);
  });

  it('does not render variables inside a value', () => {
    expect(renderText('{{a}}', { a: '{{b}}', b: 'x' }).text).toBe('{{b}}');
    expect(renderText('{{a}}', { a: '$& $1' }).text).toBe('$& $1');
  });

  it('leaves text without variables unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/\{[{%]/.test(text));
        expect(renderText(text, {})).toEqual({ text, missing: [], notUnderstood: [] });
      }),
    );
  });

  it('lists exactly the variables without a fallback and a value as missing', () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const piece = fc.record({ name, fallback: fc.boolean() });
    fc.assert(
      fc.property(fc.array(piece), fc.array(name), (pieces, given) => {
        const text = pieces
          .map((one) => `{{${one.name}${one.fallback ? ' ?? "-"' : ''}}}`)
          .join('');
        const values = Object.fromEntries(given.map((key) => [key, 'v']));
        const wanted = variablesOf(text).variables.filter(
          ({ path, fallback }) => fallback === undefined && !given.includes(path),
        );
        expect([...renderText(text, values).missing].sort()).toEqual(
          wanted.map(({ path }) => path).sort(),
        );
      }),
    );
  });
});

describe('a defined template', () => {
  it('creates the content and the data of a send', () => {
    const welcome = defineTemplate({ subject: 'Hi {{name}}', body: '<p>{{plan ?? "free"}}</p>' });
    expect(welcome.message({ name: 'Ann' })).toEqual({
      subject: 'Hi {{name}}',
      body: '<p>{{plan ?? "free"}}</p>',
      data: { name: 'Ann' },
    });
    const { subject, body } = welcome.render({ name: 'Ann' });
    expect([subject.text, body.text]).toEqual(['Hi Ann', '<p>free</p>']);
    expect(welcome.variables.map(({ path }) => path)).toEqual(['name', 'plan']);
  });

  it('can be a body alone', () => {
    const template = defineTemplate('Hi {{name ?? "there"}}');
    expect(template.render({}).text).toBe('Hi there');
    expect(template.message({ name: 'Ann' })).toEqual({
      body: template.text,
      data: { name: 'Ann' },
    });
  });
});

describe('messaging.templates', () => {
  it('previews a text without a request, and warns about missing variables', () => {
    const client = new MessagingClient({ apiKey: 'sk_test', baseUrl: 'https://mail.test' });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    expect(client.templates.variables('{{a ?? "b"}}').variables).toHaveLength(1);
    expect(client.templates.render('Hi {{name}}', {})).toMatchObject({ text: 'Hi ' });
    expect(warnings).toEqual([
      'The template uses {{name}}, which has neither a value nor a fallback.',
    ]);
  });
});
