import { describe, expectTypeOf, it } from 'vitest';
import {
  defineTemplate,
  type DataValue,
  type TemplateData,
  type SendRequest,
  type Transient,
} from 'postreel/messaging';

describe('the data of a defined template', () => {
  it('requires a variable without a fallback', () => {
    expectTypeOf<TemplateData<'Hi {{name}}'>>().toEqualTypeOf<{
      readonly name: DataValue | Transient;
    }>();
  });

  it('leaves one with a fallback optional', () => {
    expectTypeOf<TemplateData<'Hi {{ name ?? "there" }}'>>().toEqualTypeOf<{
      readonly name?: DataValue | Transient | undefined;
    }>();
  });

  it('requires what stands once without a fallback', () => {
    const template = defineTemplate('{{a ?? "x"}} {{a}} {{b}}');
    // @ts-expect-error -- a is missing
    template.render({ b: 1 });
    template.render({ a: 1, b: 'x' });
  });

  it('nests dotted paths', () => {
    const template = defineTemplate('{{profile.tier}} of {{profile.since ?? "ever"}}');
    template.render({ profile: { tier: 'gold' } });
    // @ts-expect-error -- tier is missing
    template.render({ profile: {} });
  });

  it('ignores the syntax of other template languages', () => {
    const template = defineTemplate('{{#if x}}{{/if}}{{> part}}{{a | upper}}');
    template.render({}); // nothing is required
  });

  it('keeps the spaces of a name, as the columns of a spreadsheet have them', () => {
    const template = defineTemplate(
      '{{First Name}} {{ Company Name ?? "you" }} {{address.Post Code}}',
    );
    template.message({ 'First Name': 'Ann', address: { 'Post Code': '1010' } });
    template.render({ 'First Name': 'Ann', 'Company Name': 'Acme', address: { 'Post Code': 1 } });
    // @ts-expect-error -- First Name is missing
    template.message({ address: { 'Post Code': '1010' } });
    // @ts-expect-error -- the name is written otherwise
    template.message({ firstName: 'Ann', address: { 'Post Code': '1010' } });
  });

  it('reads a name over line breaks, as at run time', () => {
    expectTypeOf<TemplateData<'{{\n  name\n}}'>>().toEqualTypeOf<{
      readonly name: DataValue | Transient;
    }>();
  });

  it('has nothing for what is not a variable at run time', () => {
    defineTemplate('{{format date "short"}}').message({});
    defineTemplate('{{a ?? b}}').message({});
    defineTemplate('{{a/b}}').message({});
    defineTemplate('{{x & y}}').message({});
  });

  it('takes any data for a text that is not known at compile time', () => {
    const text: string = 'Hi {{name}}';
    defineTemplate(text).render({ anything: 1 });
  });

  it('fits into a send', () => {
    const welcome = defineTemplate({ subject: 'Hi {{name}}', body: '<p>{{plan ?? "free"}}</p>' });
    const request = { from: 'a@b.c', to: 'd@e.f', ...welcome.message({ name: 'Ann' }) };
    expectTypeOf(request).toExtend<SendRequest>();
    // @ts-expect-error -- name is missing
    welcome.message({ plan: 'pro' });
  });

  it('copes with long texts', () => {
    const template = defineTemplate(
      '{{a}}{{b}}{{c}}{{d}}{{e}}{{f}}{{g}}{{h}}{{i}}{{j}}{{k}}{{l}}{{m}}{{n}}{{o}}{{p}}{{q}}{{r}}{{s}}{{t}}{{u}}{{v}}{{w}}{{x}}{{y}}{{z}}',
    );
    // @ts-expect-error -- all the others are missing
    template.render({ a: 1 });
  });
});
