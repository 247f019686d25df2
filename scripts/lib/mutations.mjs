/**
 * Small changes of a source: one operator, constant, condition, call, branch or `await` each. A change replaces the
 * text from `start` to `end`. The compiler's own parser finds the places.
 */
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  isAwaitExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isTypeNode,
} from 'typescript/unstable/ast/is';

const otherOperator = {
  '&&': '||',
  '||': '&&',
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '+=': '-=',
  '-=': '+=',
};

/** Returns the changes of a parsed source, in the order of the text. */
export function mutationsOf(source) {
  const { text } = source;
  const found = [];
  const change = (kind, node, replacement) => {
    const start = node.getStart(source);
    if (text.slice(start, node.end) !== replacement) found.push({ kind, start, end: node.end, replacement });
  };
  const textOf = (node) => text.slice(node.getStart(source), node.end);
  const visit = (node) => {
    // Nothing of a type runs.
    if (isTypeNode(node)) return;
    if (isBinaryExpression(node)) {
      const other = otherOperator[textOf(node.operatorToken)];
      if (other !== undefined) change('operator', node.operatorToken, other);
    } else if (isIfStatement(node)) {
      change('condition', node.expression, `!(${textOf(node.expression)})`);
      change('branch', node.thenStatement, '{}');
      if (node.elseStatement !== undefined) change('branch', node.elseStatement, '{}');
    } else if (isConditionalExpression(node)) {
      change('condition', node.condition, `!(${textOf(node.condition)})`);
    } else if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
      change('condition', node, textOf(node.operand));
    } else if (isPostfixUnaryExpression(node)) {
      const operand = textOf(node.operand);
      change('operator', node, operand + (textOf(node).endsWith('++') ? '--' : '++'));
    } else if (isNumericLiteral(node)) {
      change('constant', node, `(${textOf(node)} + 1)`);
    } else if (node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword) {
      change('constant', node, node.kind === SyntaxKind.TrueKeyword ? 'false' : 'true');
    } else if (isExpressionStatement(node)) {
      const call = isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
      if (isCallExpression(call) && call.expression.kind !== SyntaxKind.SuperKeyword) change('call', node, ';');
    }
    if (isAwaitExpression(node)) change('await', node, textOf(node.expression));
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** Returns random whole numbers below a bound; the same seed gives the same numbers (Mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
