/** Declares the part of JSON Schema (2020-12) that is used, and maps a schema to the type of its values. */

/** A schema as the contract defines it. Annotations (`description`, `examples`) serve the OpenAPI document. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

export interface Shape<Properties, Optional> {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly Exclude<keyof Properties & string, Optional>[];
  readonly properties: Properties;
}

/** Returns the schema of an object with these properties and no others, in which only the `optional` may be absent. */
export function shape<
  const Properties extends Readonly<Record<string, Schema>>,
  Optional extends keyof Properties & string = never,
>(properties: Properties, optional: readonly Optional[] = []): Shape<Properties, Optional> {
  const optionalNames: ReadonlySet<string> = new Set(optional);
  const required = Object.keys(properties).filter(
    (name): name is Exclude<keyof Properties & string, Optional> => !optionalNames.has(name),
  );
  return { type: 'object', additionalProperties: false, required, properties };
}

interface Primitives {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type Primitive<Name> = Name extends keyof Primitives ? Primitives[Name] : unknown;

type ObjectOf<Properties, Required> = [keyof Properties] extends [never]
  ? Readonly<Record<string, never>>
  : {
      readonly [K in keyof Properties as K extends Required ? K : never]: FromSchema<Properties[K]>;
    } & {
      readonly [K in keyof Properties as K extends Required ? never : K]?: FromSchema<Properties[K]>;
    };

/** The type of the values that a schema (declared `as const`) admits; `unknown` if the schema leaves it open. */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Branch)[] }
      ? FromEach<Branch>
      : S extends { readonly properties: infer Properties; readonly required: readonly (infer Required)[] }
        ? ObjectOf<Properties, Required>
        : S extends { readonly properties: infer Properties }
          ? ObjectOf<Properties, never>
          : S extends { readonly items: infer Item }
            ? readonly FromSchema<Item>[]
            : S extends { readonly type: readonly (infer Name)[] }
              ? Primitive<Name>
              : S extends { readonly type: infer Name }
                ? Primitive<Name>
                : unknown;

type FromEach<Branch> = Branch extends unknown ? FromSchema<Branch> : never;
